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
    Dims begin{};
    Dims end{};

    bool operator==(const Padding &) const = default;
};

} // namespace halftone::ops
