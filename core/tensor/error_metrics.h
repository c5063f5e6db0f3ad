#pragma once

#include "core/tensor/exact_sum.h"

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
/// the largest for some c: the upper convex hull of (|r|, |d|), which does not depend on the order of the points.
class RelativeEnvelope
{
public:
    using Point = std::pair<float, float>; ///< |r| and |d|

    /// Both finite and not negative.
    void add(float r, float d)
    {
        if (d > m_before[bucketOf(r)])
            insert(r, d);
    }
    void add(const RelativeEnvelope &other);
    /// 0 of nothing, and where all d are 0.
    double largest(double c) const;
    /// The hull's corners, from the left: the whole state.
    std::vector<Point> points() const;

private:
    static constexpr int kDroppedBits = 20; ///< a bucket holds an eighth of a power of two
    static std::size_t bucketOf(float r) { return std::bit_cast<std::uint32_t>(r) >> kDroppedBits; }
    void insert(float r, float d);
    void reduceToHull();

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

/// What ErrorMetrics is made of, for files.
struct ErrorParts
{
    std::uint64_t count = 0;
    std::uint64_t nan = 0;
    std::uint64_t overflow = 0;
    std::uint64_t undefined = 0; ///< differences that are NaN
    double largest = 0; ///< |d|; NaN counts as none
    std::array<ExactSum, 5> sums{}; ///< of |d|, d², r², x² and r·x
    std::vector<RelativeEnvelope::Point> envelope{};
};

/// Collects the errors of one tensor over any number of examples; memory does not grow with them. Sums are in double within an
/// example and exact from one to the next: figures depend neither on the order of the examples nor on how they were grouped.
class ErrorMetrics
{
public:
    /// A part of an example. Needs: as many values in both.
    void add(std::span<const float> reference, std::span<const float> values);
    /// Ends an example: what is added from here on is another one's.
    void endExample();
    void add(const ErrorMetrics &other);
    ErrorFigures figures() const;

    ErrorParts parts() const;
    /// Needs: points that are finite and not negative.
    static ErrorMetrics ofParts(const ErrorParts &parts);

private:
    void addBlock(std::span<const float> reference, std::span<const float> values);
    void addOddities(std::span<const float> reference, std::span<const float> values);

    std::uint64_t m_count = 0;
    std::uint64_t m_nan = 0;
    std::uint64_t m_overflow = 0;
    std::uint64_t m_undefined = 0; ///< differences that are NaN
    ErrorSums m_sums; ///< of this example
    double m_largest = 0; ///< of those before it
    std::array<ExactSum, 5> m_exact; ///< of those before it, as ErrorParts::sums
    RelativeEnvelope m_relative;
};

} // namespace halftone::tensor
