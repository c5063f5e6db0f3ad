#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halftone::tensor {

/// A sum of doubles without any rounding, so that it does not depend on their order or on how they were grouped: a fixed-point
/// number as wide as double's range (Kulisch's accumulator). value() rounds once, at the end.
class ExactSum
{
public:
    void add(double value);
    /// a * b, not rounded either. Needs: a product, and its rounding error, that do not underflow.
    void addProduct(double a, double b);
    void add(const ExactSum &other);

    double value() const { return split().high; }

    /// high + low is the sum to some 100 bits, high the nearest double but where a tie is missed by less than that.
    struct Split
    {
        double high = 0;
        double low = 0;
    };
    Split split() const;

    /// Digits of 32 bits, the least significant ones first, that are not needed at either end left out; the most significant
    /// one has a sign. One sum has one such form, however it came about.
    struct Parts
    {
        std::uint32_t first = 0; ///< place of the first digit
        std::vector<std::int64_t> digits;
        std::uint64_t nan = 0; ///< values that were NaN
        std::uint64_t positiveInfinite = 0;
        std::uint64_t negativeInfinite = 0;

        bool operator==(const Parts &) const = default;
    };
    Parts parts() const;
    /// Nothing is checked but what memory needs: false, and nothing changed, for digits that no sum has.
    bool takeParts(const Parts &parts);

    static constexpr std::size_t kDigits = 70; ///< 2098 bits of double, 64 for carries, and a sign

private:
    static constexpr int kDigitBits = 32;
    static constexpr int kLowestExponent = -1074; ///< of the last bit of the first digit
    /// So many additions leave 64 bits enough for the carries.
    static constexpr std::uint32_t kMostPending = 1U << 29;

    void carry();

    std::array<std::int64_t, kDigits> m_digits{};
    std::uint32_t m_pending = 0; ///< additions since digits were last carried over
    std::uint64_t m_nan = 0;
    std::uint64_t m_positiveInfinite = 0;
    std::uint64_t m_negativeInfinite = 0;
};

} // namespace halftone::tensor
