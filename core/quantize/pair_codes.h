#pragma once

#include "core/dialect/quantized_forms.h"
#include "core/quantize/quantize.h"
#include "core/tensor/tensor.h"

#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace halftone::quantize {

/// Codes with their scale and zero point: value = (code - zero point) · scale.
struct PairCodes
{
    tensor::Tensor codes; ///< of a parameter; else empty
    tensor::Tensor scale; ///< float32, rank 0, or one number a channel
    tensor::Tensor zeroPoint; ///< of the codes' type, shaped as the scale; empty: 0
    std::vector<float> scales; ///< the numbers in `scale`
};

/// For values of that range, 0 in it (core/quantize/RULES.md, Q-pair-data).
PairCodes dataCodes(const QuantizedRange &range, QuantizedCodes codes);

/// int8, symmetric (Q-pair-weights). `axis`: of the channels, each with a scale; nothing: one for all.
/// leastScales  by channel; scales are no smaller; may be empty
/// Needs: finite float32 values.
PairCodes weightCodes(const tensor::Tensor &values, std::optional<std::size_t> axis,
                      std::span<const float> leastScales);

/// The least scales of weights with which this bias in codes of 32 bits overflows nowhere.
std::vector<float> leastWeightScales(std::span<const float> bias, float dataScale);

/// int32 in the scale of the product's sums (Q-pair-bias). Needs: one weight scale, or one for each number of the bias.
PairCodes biasCodes(const tensor::Tensor &values, float dataScale, std::span<const float> weightScales);

/// What a node that decodes constants gives; nothing where its codes are not of 8 or 32 bits, or its scales not one for all or one a
/// place of an axis. constants: by the nodes that give them
std::optional<tensor::Tensor>
decodedConstant(const graph::Graph &graph, graph::NodeId decode,
                const std::unordered_map<graph::NodeId, tensor::Tensor> &constants);

} // namespace halftone::quantize
