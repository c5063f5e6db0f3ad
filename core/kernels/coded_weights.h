#pragma once

#include "core/kernels/backend.h"
#include "core/ops/op_fused.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halftone::kernels {

/// Weights of ops::FusedProduct as a kernel computes with them.
struct CodedWeights
{
    std::vector<std::int8_t> codes; ///< as the weight lies
    std::vector<double> scales; ///< codes for 1, by output channel, or one for all
    std::vector<std::int32_t> bias; ///< by output channel, in the scale of the sums; empty: none

    double scaleOf(std::size_t channel) const { return scales.size() == 1 ? scales[0] : scales[channel]; }
};

/// Folds BatchNorm and quantizes weights and bias (core/quantize/RULES.md, Q-fold, Q-weights).
/// inputs     bytes of all inputs, dense
/// dataScale  codes for 1 of the data
CodedWeights codeWeights(const ops::FusedProduct &op, const std::vector<TensorDesc> &descs,
                         std::span<const std::byte *const> inputs, double dataScale);

} // namespace halftone::kernels
