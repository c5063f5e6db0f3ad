#pragma once

#include <concepts>
#include <optional>

namespace halftone {

/// Arithmetic on sizes that come from files: nothing instead of a wrapped result.
template <std::integral T>
constexpr std::optional<T> checkedAdd(T a, T b)
{
    T sum{};
    return __builtin_add_overflow(a, b, &sum) ? std::nullopt : std::optional<T>(sum);
}

template <std::integral T>
constexpr std::optional<T> checkedMultiply(T a, T b)
{
    T product{};
    return __builtin_mul_overflow(a, b, &product) ? std::nullopt : std::optional<T>(product);
}

} // namespace halftone
