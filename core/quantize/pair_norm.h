#pragma once

#include "core/quantize/pair_plan.h"

namespace halftone::quantize {

struct WeightsAndBias
{
    tensor::Tensor weights; ///< float32; axis 0 counts the output channels
    tensor::Tensor bias; ///< float32, one number a channel; empty: zeros
};

/// With the BatchNorm that follows computed beforehand (core/quantize/RULES.md, Q-fold).
/// Needs: inference along axis 1, its parameters among the constants.
WeightsAndBias withBatchNorm(const WeightsAndBias &values, const graph::Graph &graph, graph::NodeId norm,
                             const Constants &constants);

} // namespace halftone::quantize
