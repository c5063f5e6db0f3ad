#pragma once

#include "core/base/json.h"
#include "core/graph/model.h"

namespace halftone::results {

/// Adds `weights` [format, bits, block, elements, bytes, count] and `bits_per_weight`: what the model stores as codes of weights.
void addWeights(const graph::Model &model, OrderedJson &json);

} // namespace halftone::results
