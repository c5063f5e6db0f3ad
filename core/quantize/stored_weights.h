#pragma once

#include "core/graph/model.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halftone::quantize {

/// Matrices that a model holds as codes of one format.
struct StoredWeights
{
    std::string
        format; ///< type of the codes and block: "uint4/32", "int8/channel"; "mxfp4", "mxfp8", "nvfp4"
    int bits = 0; ///< of a code
    std::int64_t block = 0; ///< weights that share a scale; 0: those of a channel, or all
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0; ///< of codes, scales and zero points
    std::size_t count = 0; ///< of matrices

    bool operator==(const StoredWeights &) const = default;
};

/// What a model stores as codes of weights, in the order of the nodes that read them; matrices that several nodes read count once. Weights have
/// at least two axes.
std::vector<StoredWeights> storedWeights(const graph::Model &model);

/// Bits that an element takes over all of them; absent if there are none.
std::optional<double> bitsPerWeight(const std::vector<StoredWeights> &weights);

} // namespace halftone::quantize
