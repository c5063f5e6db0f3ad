#pragma once

#include "core/hardware/description.h"
#include "core/ops/operator.h"

#include <optional>

namespace halftone::hardware {

/// The unit that computes an operator. Nothing for control flow, whose bodies have their own; for casts and what changes codes, which
/// stand between types; and for operators that are not analysed.
std::optional<Unit> unitOf(const ops::Operator &op);

} // namespace halftone::hardware
