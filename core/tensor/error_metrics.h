#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace halftone::tensor {

/// How far x lies from a reference r, with d = x - r (core/quantize/RULES.md, Q-figures). What NaN or infinity makes
/// meaningless is NaN or infinite here too: nothing is left out.
struct ErrorFigures
{
    std::uint64_t count = 0;
    std::uint64_t nan = 0; ///< in x where r is no NaN
    std::uint64_t overflow = 0; ///< infinite in x where r is finite
    double maxAbs = 0;
    double meanAbs = 0;
    double rmse = 0;
    std::optional<double> relativeL2; ///< nothing for r = 0
    double cosine = 1; ///< both zero: 1; one zero: 0
    double sqnrDb = 0; ///< d = 0: infinite
    double maxRelative = 0; ///< max of |d| / (|r| + 0.001 RMS(r))
};

/// The largest |d| / (|r| + c) of all points added, for a c that is known only at the end. Keeps those points that can be
/// the largest for some c: the upper convex hull of (|r|, |d|).
class RelativeEnvelope
{
public:
    /// Both finite and not negative.
    void add(float r, float d)
    {
        if (d > m_before[bucketOf(r)])
            insert(r, d);
    }
    /// 0 of nothing, and where all d are 0.
    double largest(double c) const;

private:
    static constexpr int kDroppedBits = 20; ///< a bucket holds an eighth of a power of two
    static std::size_t bucketOf(float r) { return std::bit_cast<std::uint32_t>(r) >> kDroppedBits; }
    void insert(float r, float d);
    void reduceToHull();

    using Point = std::pair<float, float>;
    std::array<float, (0x7F800000U >> kDroppedBits) + 1> m_before{}; ///< largest d of all lower buckets
    std::vector<Point> m_points;
    std::vector<Point> m_added; ///< since the last reduction
};

/// Independent sums side by side, for vectors: a value at place k goes to lane k mod kLanes.
struct ErrorSums
{
    static constexpr std::size_t kLanes = 8;
    using Lanes = std::array<double, kLanes>;

    Lanes abs{}, squares{}, reference{}, values{}, product{};
    Lanes largest{}; ///< |d|; NaN counts as none
};

/// 10·log10(signal / noise); infinite without noise, NaN with NaN in either.
double decibels(double signal, double noise);

/// r·x / (|r| |x|), in [-1, 1], of r·x and the sums of squares of both; both zero: 1; one zero: 0; NaN where it is undefined.
double cosineOf(double product, double reference, double values);

/// Collects the errors of one tensor over any number of batches; memory does not grow with them. Sums are in double.
class ErrorMetrics
{
public:
    /// Needs: as many values in both.
    void add(std::span<const float> reference, std::span<const float> values);
    ErrorFigures figures() const;

private:
    void addBlock(std::span<const float> reference, std::span<const float> values);
    void addOddities(std::span<const float> reference, std::span<const float> values);

    std::uint64_t m_count = 0;
    std::uint64_t m_nan = 0;
    std::uint64_t m_overflow = 0;
    std::uint64_t m_undefined = 0; ///< differences that are NaN
    ErrorSums m_sums;
    RelativeEnvelope m_relative;
};

} // namespace halftone::tensor
