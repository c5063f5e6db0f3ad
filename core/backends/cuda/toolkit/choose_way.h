#pragma once

#include "core/backends/cuda/attention.h"
#include "core/backends/cuda/gpu.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::backends::cuda {

/// What a product is, in full: equal for what may be computed in the same way.
std::string keyOf(const ProductDesc &desc);
std::string keyOf(const AttentionDesc &desc);

struct Argument
{
    std::size_t bytes = 0;
    tensor::DType dtype = tensor::DType::Unknown;

    bool operator==(const Argument &) const = default;
};
/// A product's arguments, in their order.
std::vector<Argument> argumentsOf(const ProductDesc &desc);
std::vector<Argument> argumentsOf(const AttentionDesc &desc);

/// Writes values of a type, near 1 in size and of either sign, or zeros where no type is given.
using Fill = std::function<Result<void>(std::byte *to, std::size_t bytes, std::optional<tensor::DType> type)>;

struct Way
{
    std::size_t number = 0;
    std::optional<double> microseconds{}; ///< nothing: it was not timed
};

/// The quickest of a product's ways on this device, each timed over memory of its own: what a library believes in is the best of what
/// it knows without a look at the chip's clocks, caches and neighbours. A later one must be clearly quicker, so that ways that are
/// alike do not take turns from run to run. The first where nothing can be timed.
/// fill   nobody reads what nobody wrote; and zeros take less power, so that chips run faster over them
/// keeps  whichever way is in use is another one afterwards
Way quickestWay(Gpu &gpu, Product &product, std::span<const Argument> arguments, const Fill &fill);

/// Products that compute the same, by several libraries: the ways of all, one behind the other. Needs: at least one
std::unique_ptr<Product> joined(std::vector<std::unique_ptr<Product>> products);

} // namespace halftone::backends::cuda
