#pragma once

#include "core/backends/reference/arrays.h"
#include "core/tensor/elements.h"

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

/// Elements in numbers that hold them exactly, for kernels of any type.
namespace halftone::backends::reference {

/// Calls use(Number()) with the numbers that kernels compute elements of `type` in: float for narrow floats, double, uint64
/// for uint64, else int64.
template <class Use>
auto withNumbers(tensor::DType type, const Use &use)
{
    if (type == tensor::DType::F64)
        return use(double{});
    if (tensor::isFloat(type))
        return use(float{});
    return type == tensor::DType::U64 ? use(std::uint64_t{}) : use(std::int64_t{});
}

template <class Number>
std::vector<Number> loaded(tensor::DType type, const std::byte *bytes, std::size_t count)
{
    if constexpr (std::is_same_v<Number, std::int64_t>) {
        return tensor::integers(type, bytes, count);
    } else {
        std::vector<Number> values(count);
        if constexpr (std::is_same_v<Number, std::uint64_t>) {
            if (count > 0)
                std::memcpy(values.data(), bytes, count * sizeof(Number));
        } else {
            tensor::widen(type, bytes, count, values.data());
        }
        return values;
    }
}

/// Integers keep their low bits, reals are rounded once.
template <class Number>
void store(const std::vector<Number> &values, tensor::DType type, std::byte *bytes)
{
    if constexpr (std::is_integral_v<Number>)
        tensor::convert(std::is_signed_v<Number> ? tensor::DType::I64 : tensor::DType::U64,
                        reinterpret_cast<const std::byte *>(values.data()), values.size(), type, bytes);
    else
        tensor::narrow(values.data(), values.size(), type, bytes);
}

/// Input `i` of a kernel that moves, in such numbers.
template <class Number>
std::vector<Number> loadedInput(const RawArrays &arrays, std::size_t i)
{
    return loaded<Number>(arrays.operation.inputs[i].dtype, arrays.in[i], arrays.inCount(i));
}

} // namespace halftone::backends::reference
