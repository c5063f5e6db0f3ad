#include "core/tensor/held_above_zero.h"

#include "core/tensor/convert.h"
#include "core/tensor/elements.h"

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

namespace halftone::tensor {

std::optional<Tensor> heldAboveZero(const Tensor &values, DType to, DType stored)
{
    if (!isHalf(to) || values.dtype() != DType::F32 || values.elementCount() != 1)
        return std::nullopt;
    double value = 0;
    widen(values.dtype(), values.bytes().data(), 1, &value);
    const FloatRange &range = rangeOf(to);
    const double least = std::ldexp(range.leastNormal, 1 - range.significantBits);
    if (!(value > 0) || value > least / 2) // what is half of it or less is rounded to 0
        return std::nullopt;
    const auto held = static_cast<float>(least);
    std::vector<std::byte> bytes(sizeof held);
    std::memcpy(bytes.data(), &held, sizeof held);
    auto made = castTo(Tensor::owning(DType::F32, values.shape(), std::move(bytes)), stored);
    return made.ok() ? std::optional(std::move(made).value()) : std::nullopt;
}

} // namespace halftone::tensor
