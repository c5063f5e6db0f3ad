#pragma once

#include <bit>
#include <cstdint>

namespace halftone::calibration {

/// The natural logarithm of a positive normal number, within some 2e-16 of it, without branches or tables: a loop over it
/// can use vectors, which one over std::log can't. ln(m 2^e) = e ln 2 + 2 artanh((m - 1) / (m + 1)), m in [√½, √2).
[[gnu::always_inline]] inline double vectorLog(double x)
{
    constexpr std::uint64_t kRootHalf = 0x3FE6A09E667F3BCDU; // √½
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t shifted = bits - kRootHalf;
    const auto exponent = static_cast<std::int64_t>(shifted) >> 52;
    const double m = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(exponent) << 52));
    const double s = (m - 1) / (m + 1);
    const double z = s * s; // below 0.0295
    double series = 1.0 / 21;
    series = series * z + 1.0 / 19;
    series = series * z + 1.0 / 17;
    series = series * z + 1.0 / 15;
    series = series * z + 1.0 / 13;
    series = series * z + 1.0 / 11;
    series = series * z + 1.0 / 9;
    series = series * z + 1.0 / 7;
    series = series * z + 1.0 / 5;
    series = series * z + 1.0 / 3;
    constexpr double kLn2High = 0x1.62e42feep-1; // its product with an exponent is exact
    constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
    const auto e = static_cast<double>(static_cast<std::int32_t>(exponent));
    return e * kLn2High + (2 * s + (2 * s * (z * series) + e * kLn2Low));
}

} // namespace halftone::calibration
