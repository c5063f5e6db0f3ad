#pragma once

#include "core/backends/cuda/element_kernel.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What the texts of kernels are made of.
namespace halftone::backends::cuda {

inline constexpr std::int64_t kThreads = 256; ///< of a block, at most

std::string number(std::int64_t value);
/// The integer that counts `count` elements: 32 bits where they do, since divisions take the time.
std::string_view counter(std::int64_t count);
/// Definitions of c0, c1, …, as named, from the running number `from`; the last dimension is the fastest.
std::string coordinates(const Dims &dims, const std::vector<std::size_t> &names, const std::string &from,
                        std::string_view type);
std::vector<std::size_t> firstNumbers(std::size_t count); ///< 0, 1, …
/// "c0 * 12 + c1 + (3)"
std::string place(const Dims &strides, std::int64_t offset, std::size_t first);
/// A kernel's head, to its opening bracket: arguments p0, p1, … and the result q.
/// also  the type of a second result
std::string head(std::span<const tensor::DType> inputs, tensor::DType output,
                 std::optional<tensor::DType> also = std::nullopt);
/// A thread for each of `count`; few of them in blocks that are small enough for all multiprocessors to have some.
void launchElements(KernelText &kernel, std::int64_t count);
std::vector<tensor::DType> typesOf(std::span<const View> views);

} // namespace halftone::backends::cuda
