#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::quantize {

/// A convolution or fully connected layer that has become int8.
struct Int8Product
{
    graph::NodeId node = 0; ///< in the source
    std::string data; ///< the tensor that it multiplies (Dialect::entryName)
    bool perChannel = false; ///< its weights have a scale each output channel
    bool isFullyConnected = false; ///< otherwise a convolution
    bool isTransposed
        = false; ///< of a fully connected layer: axis 1 of its weights counts the output channels
};

/// Those of `source` that quantize() wrote into `quantized`, by name, in the source's order.
std::vector<Int8Product> int8Products(const graph::Graph &source, const graph::Graph &quantized);

/// Means of a tensor over examples and places, one a feature: of a convolution's data its channels, of a fully connected
/// layer's the columns of its weight.
struct FeatureMeans
{
    std::vector<double> real;
    std::vector<double> coded; ///< of the same values after int8 codes
};

struct CorrectedBiases
{
    graph::Model model;
    std::size_t corrected = 0; ///< layers
    std::vector<std::string> notes; ///< layers that have nowhere to put a correction
};

/// The model with the mean error that int8 weights and data bring to each output channel taken out beforehand: from the
/// layer's bias, or from beta of the BatchNorm that alone reads it (Nagel et al. 2019, "Data-Free Quantization Through Weight
/// Equalization and Bias Correction", section 4.2, with measured means). What quantize() makes of it has the same codes
/// of weights.
/// means  by Int8Product::data; layers without are left as they are
/// fails  BadInput for an attribute that does not read, naming the node
Result<CorrectedBiases> correctBiases(const graph::Model &model, const std::vector<Int8Product> &products,
                                      const std::unordered_map<std::string, FeatureMeans> &means);

} // namespace halftone::quantize
