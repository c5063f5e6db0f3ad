#pragma once

#include "core/quantize/quantize.h"

/// int8 where operators stay what they are and values pass through codes (core/quantize/RULES.md, Q-pairs).
namespace halftone::quantize {

bool isInPairs(const graph::Graph &graph);

/// planQuantization() of such a graph.
Result<PlannedQuantization> planInPairs(const graph::Model &model, const QuantizeOptions &options);

/// quantize() of such a model. fails: also Unsupported for a node that a version with such pairs does not have
Result<QuantizedModel> quantizeInPairs(const graph::Model &model, const QuantizeOptions &options,
                                       const QuantizedRanges &ranges);

} // namespace halftone::quantize
