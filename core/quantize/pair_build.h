#pragma once

#include "core/base/result.h"
#include "core/quantize/pair_plan.h"
#include "core/quantize/quantize.h"

namespace halftone::quantize {

/// The model with pairs where the plan has them: values through codes and back, weights and biases stored as codes, each
/// once however many nodes read it, a BatchNorm in the weights before it. Names of everything else stay.
/// ranges  by PlannedValue::name; all of those
/// Needs: constants and plan of the same model, which may have been raised since; a version that has the nodes of pairs.
QuantizedModel buildPairs(const graph::Model &model, const Constants &constants, const PairPlan &plan,
                          const QuantizeOptions &options, const QuantizedRanges &ranges);

} // namespace halftone::quantize
