#include "core/tensor/exact_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace halftone::tensor {
namespace {

constexpr std::int64_t kBase = std::int64_t{1} << 32;

} // namespace

void ExactSum::add(double value)
{
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto field = static_cast<int>(bits >> 52 & 0x7FF);
    std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
    const bool isNegative = bits >> 63 != 0;
    constexpr int kInfiniteField = 0x7FF;
    if (field == kInfiniteField) {
        ++(mantissa != 0 ? m_nan : isNegative ? m_negativeInfinite : m_positiveInfinite);
        return;
    }
    mantissa |= field > 0 ? std::uint64_t{1} << 52 : 0;
    const int shift = std::max(field, 1) - 1; // the mantissa's last bit is worth 2^(shift - 1074)
    auto at = static_cast<std::size_t>(shift / kDigitBits);
    const int within = shift % kDigitBits;
    const std::uint64_t low = mantissa << within & (std::uint64_t{0xFFFFFFFF});
    const std::uint64_t rest = mantissa >> (kDigitBits - within);
    for (const std::uint64_t part : {low, rest & std::uint64_t{0xFFFFFFFF}, rest >> kDigitBits}) {
        const auto digit = static_cast<std::int64_t>(part);
        m_digits[at++] += isNegative ? -digit : digit;
    }
    if (++m_pending == kMostPending)
        carry();
}

void ExactSum::addProduct(double a, double b)
{
    const double product = a * b;
    add(product);
    if (std::isfinite(product))
        add(std::fma(a, b, -product));
}

void ExactSum::add(const ExactSum &other)
{
    ExactSum carried = other;
    carried.carry();
    carry();
    for (std::size_t k = 0; k < kDigits; ++k)
        m_digits[k] += carried.m_digits[k];
    carry();
    m_nan += other.m_nan;
    m_positiveInfinite += other.m_positiveInfinite;
    m_negativeInfinite += other.m_negativeInfinite;
}

/// Every digit but the last into 0 to 2^32 - 1.
void ExactSum::carry()
{
    for (std::size_t k = 0; k + 1 < kDigits; ++k) {
        const std::int64_t over = m_digits[k] >> kDigitBits;
        m_digits[k] -= over * kBase;
        m_digits[k + 1] += over;
    }
    m_pending = 0;
}

ExactSum::Split ExactSum::split() const
{
    if (m_nan > 0 || (m_positiveInfinite > 0 && m_negativeInfinite > 0))
        return {std::numeric_limits<double>::quiet_NaN(), 0};
    if (m_positiveInfinite + m_negativeInfinite > 0)
        return {m_positiveInfinite > 0 ? std::numeric_limits<double>::infinity()
                                       : -std::numeric_limits<double>::infinity(),
                0};
    ExactSum rest = *this;
    rest.carry();
    // The sign is the last digit's; of a magnitude the leading digits are the nearest doubles.
    const bool isNegative = rest.m_digits.back() < 0;
    if (isNegative) {
        for (std::int64_t &digit : rest.m_digits)
            digit = -digit;
        rest.carry();
    }
    // Digits are added from above as pairs that do not overlap, each below the last bit of those before it.
    Split sum;
    for (std::size_t k = kDigits; k-- > 0;) {
        const double digit = std::ldexp(static_cast<double>(rest.m_digits[k]),
                                        kLowestExponent + kDigitBits * static_cast<int>(k));
        const double low = sum.low + digit;
        const double high = sum.high + low; // |sum.high| is nothing or larger than |low|
        sum = {high, low - (high - sum.high)};
    }
    if (!std::isfinite(sum.high))
        sum = {std::numeric_limits<double>::infinity(), 0};
    return isNegative ? Split{-sum.high, -sum.low} : sum;
}

ExactSum::Parts ExactSum::parts() const
{
    ExactSum carried = *this;
    carried.carry();
    Parts parts{0, {}, m_nan, m_positiveInfinite, m_negativeInfinite};
    const auto &digits = carried.m_digits;
    const auto isUsed = [](std::int64_t digit) { return digit != 0; };
    const auto first = std::ranges::find_if(digits, isUsed);
    if (first == digits.end())
        return parts;
    const auto last = std::find_if(digits.rbegin(), digits.rend(), isUsed).base();
    parts.first = static_cast<std::uint32_t>(first - digits.begin());
    parts.digits.assign(first, last);
    return parts;
}

bool ExactSum::takeParts(const Parts &parts)
{
    if (parts.first > kDigits || parts.digits.size() > kDigits - parts.first)
        return false;
    for (std::size_t k = 0; k < parts.digits.size(); ++k) {
        const std::int64_t digit = parts.digits[k];
        const bool isLast = parts.first + k + 1 == kDigits;
        if (digit >= kBase || digit < (isLast ? -kBase : 0))
            return false;
    }
    *this = ExactSum();
    std::ranges::copy(parts.digits, m_digits.begin() + parts.first);
    m_nan = parts.nan;
    m_positiveInfinite = parts.positiveInfinite;
    m_negativeInfinite = parts.negativeInfinite;
    return true;
}

} // namespace halftone::tensor
