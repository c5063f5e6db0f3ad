#pragma once

#include "core/ops/operator.h"

namespace halftone::plan {

/// Is it a function of one element that operators before it may apply to their results?
bool isElementFunction(const ops::Operator &op);

} // namespace halftone::plan
