#pragma once

#include "core/base/checked_math.h"
#include "core/tensor/shape.h"

#include <cstdint>
#include <optional>

namespace halftone::ops {

/// A dimension under computation: a number, unknown, or out of range (hostile attributes overflow). "Unknown"
/// and "out of range" spread through arithmetic, so that a formula is written plainly and tested once, where
/// it meets a shape. Out of range wins over unknown.
class Dim
{
public:
    constexpr Dim(
        std::int64_t value) // NOLINT(google-explicit-constructor): formulas mix dimensions and constants
        : m_value(value)
    {
    }
    /// A dimension as a Shape holds it: negative is unknown.
    static constexpr Dim of(std::int64_t value) { return value < 0 ? unknown() : Dim(value); }
    static constexpr Dim unknown() { return Dim(State::Unknown); }
    static constexpr Dim outOfRange() { return Dim(State::OutOfRange); }

    constexpr bool isKnown() const { return m_state == State::Known; }
    constexpr bool isOutOfRange() const { return m_state == State::OutOfRange; }
    /// Needs isKnown().
    constexpr std::int64_t value() const { return m_value; }
    /// As a Shape holds it.
    constexpr std::int64_t orUnknown() const { return isKnown() ? m_value : tensor::Shape::kUnknown; }

    friend constexpr Dim operator+(Dim a, Dim b)
    {
        return combine(a, b, [](std::int64_t x, std::int64_t y) { return checkedAdd(x, y); });
    }
    friend constexpr Dim operator-(Dim a, Dim b)
    {
        return combine(a, b, [](std::int64_t x, std::int64_t y) {
            std::int64_t difference = 0;
            return __builtin_sub_overflow(x, y, &difference) ? std::nullopt : std::optional(difference);
        });
    }
    friend constexpr Dim operator*(Dim a, Dim b)
    {
        return combine(a, b, [](std::int64_t x, std::int64_t y) { return checkedMultiply(x, y); });
    }
    /// Towards minus infinity. Dividing by less than 1 is out of range.
    friend constexpr Dim operator/(Dim a, Dim b)
    {
        return combine(a, b, [](std::int64_t x, std::int64_t y) {
            return y < 1 ? std::nullopt : std::optional(x / y - (x % y < 0 ? 1 : 0));
        });
    }

private:
    enum class State : std::uint8_t
    {
        Known,
        Unknown,
        OutOfRange
    };

    explicit constexpr Dim(State state)
        : m_state(state)
    {
    }

    template <class F>
    static constexpr Dim combine(Dim a, Dim b, F f)
    {
        if (a.isOutOfRange() || b.isOutOfRange())
            return outOfRange();
        if (!a.isKnown() || !b.isKnown())
            return unknown();
        const std::optional<std::int64_t> value = f(a.m_value, b.m_value);
        return value ? Dim(*value) : outOfRange();
    }

    std::int64_t m_value = 0;
    State m_state = State::Known;
};

/// a / b, rounded up.
constexpr Dim ceilDivide(Dim a, Dim b)
{
    return (a + b - 1) / b;
}

} // namespace halftone::ops
