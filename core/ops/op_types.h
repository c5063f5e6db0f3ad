#pragma once

#include "core/tensor/dtype.h"

#include <cstdint>
#include <optional>
#include <vector>

/// What the operator structs are made of.
namespace halftone::ops {

using tensor::DType;
using Dims = std::vector<std::int64_t>;
/// A list in which single places may be left out (a slice's begin).
using OptionalDims = std::vector<std::optional<std::int64_t>>;

/// Where the channel axis of a tensor with batch and spatial axes lies: N C spatial… or N spatial… C.
enum class Layout : std::uint8_t
{
    ChannelsFirst,
    ChannelsLast
};

/// Rows added around each spatial axis; an empty list stands for zeros.
struct Padding
{
    /// As many that the output has ceil(extent / stride) places (of a transposed convolution extent · stride); the odd one
    /// stands at the end or at the begin.
    enum class Same : std::uint8_t
    {
        No,
        OddAtEnd,
        OddAtBegin
    };

    Dims begin{};
    Dims end{};
    Same same = Same::No; ///< instead of the lists; settled() writes them (settle.h)

    bool operator==(const Padding &) const = default;
};

} // namespace halftone::ops
