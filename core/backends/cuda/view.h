#pragma once

#include "core/kernels/backend.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace halftone::backends::cuda {

using Dims = std::vector<std::int64_t>;

/// How a kernel sees a tensor: any layout is a set of strides, in elements. Kernels are generated for views, so that data whose
/// channels come last, a slice and a transposed tensor need no code of their own.
struct View
{
    tensor::DType dtype = tensor::DType::Unknown;
    Dims dims;
    Dims strides;
    std::int64_t offset = 0;

    bool operator==(const View &) const = default;
};

/// In which order the axes of a tensor lie in memory.
enum class Order : std::uint8_t
{
    Plain, ///< row-major
    ChannelsLast ///< axis 1 runs fastest, the others row-major; of tensors of 3 to 5 axes
};

View viewOf(const kernels::TensorDesc &desc, Order order = Order::Plain);
/// `axis` counted from the front; it lies within the rank.
constexpr std::size_t fromFront(std::int64_t axis, std::size_t rank)
{
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}
std::int64_t countOf(std::span<const std::int64_t> dims);

/// The view with `axes` in this order.
View permuted(const View &view, std::span<const std::size_t> axes);
/// Stretched to `dims`: axes of 1 and missing leading ones repeat.
View stretched(const View &view, std::span<const std::int64_t> dims);
/// The same dims, axes in the same order in memory, without gaps. Needs: no strides of 0 but for extents of 1
View denseLike(const View &view);
/// From `begin`, every `step`th (which may be negative), `count` of them.
View sliced(const View &view, std::size_t axis, std::int64_t begin, std::int64_t count,
            std::int64_t step = 1);
/// Other axes over the same elements in row-major order; nothing where strides cannot say it.
std::optional<View> reshaped(const View &view, std::span<const std::int64_t> dims);

/// A loop over views of the same dims: in the order in which the first one lies in memory, neighbouring axes joined where all
/// views let them.
struct Walk
{
    Dims dims;
    std::vector<Dims> strides; ///< by view
    std::vector<std::int64_t> offsets;
};
/// Needs: at least one view, all of the same dims.
Walk walkOver(std::span<const View> views);

/// Elements as `from` sees them to where `to` sees them, in memory of this machine. Needs: the same dims and types
void copyElements(const View &from, std::span<const std::byte> source, const View &to,
                  std::span<std::byte> target);
/// Does `axis` run, and begin at multiples of `width` elements whatever the place along the other axes?
bool isInSteps(const View &view, std::size_t axis, std::int64_t width);

} // namespace halftone::backends::cuda
