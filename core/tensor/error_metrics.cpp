#include "core/tensor/error_metrics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace halftone::tensor {
namespace {

constexpr std::size_t kSumBlock = 1024;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double sumOf(std::span<const double> lanes)
{
    return std::accumulate(lanes.begin(), lanes.end(), 0.0);
}

constexpr std::size_t kLanes = ErrorSums::kLanes;

struct Block
{
    const float *reference;
    const float *values;
    std::size_t count;
    float *distance; ///< |d| of each, to be written
};

/// Four lanes: as many doubles as a vector of AVX2 has. Wider ones GCC takes apart again.
class FourSums
{
public:
    [[gnu::always_inline]] FourSums(const ErrorSums &sums, std::size_t firstLane)
    {
        // Vectors are neither given nor taken: without AVX no function can.
        const auto from = [firstLane](Doubles &vector, const ErrorSums::Lanes &lanes) {
            std::memcpy(&vector, lanes.data() + firstLane, sizeof vector);
        };
        from(m_abs, sums.abs);
        from(m_squares, sums.squares);
        from(m_reference, sums.reference);
        from(m_values, sums.values);
        from(m_product, sums.product);
        from(m_largest, sums.largest);
    }

    [[gnu::always_inline]] void add(const float *reference, const float *values, float *distance)
    {
        Floats narrow;
        std::memcpy(&narrow, reference, sizeof narrow);
        const Doubles r = __builtin_convertvector(narrow, Doubles);
        std::memcpy(&narrow, values, sizeof narrow);
        const Doubles x = __builtin_convertvector(narrow, Doubles);
        const Doubles difference = x - r; // exact up to one rounding of double
        const auto d = reinterpret_cast<Doubles>(reinterpret_cast<Bits>(difference) & kAllButSign);
        m_abs += d;
        m_squares += d * d;
        m_reference += r * r;
        m_values += x * x;
        m_product += r * x;
        m_largest = d > m_largest ? d : m_largest;
        const Floats rounded = __builtin_convertvector(d, Floats);
        std::memcpy(distance, &rounded, sizeof rounded);
    }

    [[gnu::always_inline]] void store(ErrorSums &sums, std::size_t firstLane) const
    {
        const auto to = [firstLane](ErrorSums::Lanes &lanes, const Doubles &vector) {
            std::memcpy(lanes.data() + firstLane, &vector, sizeof vector);
        };
        to(sums.abs, m_abs);
        to(sums.squares, m_squares);
        to(sums.reference, m_reference);
        to(sums.values, m_values);
        to(sums.product, m_product);
        to(sums.largest, m_largest);
    }

private:
    using Floats = float __attribute__((vector_size(16)));
    using Doubles = double __attribute__((vector_size(32)));
    using Bits = std::int64_t __attribute__((vector_size(32)));
    static constexpr std::int64_t kAllButSign = std::numeric_limits<std::int64_t>::max();

    Doubles m_abs, m_squares, m_reference, m_values, m_product, m_largest;
};

[[gnu::always_inline]] inline void sum(const Block &block, ErrorSums &sums)
{
    FourSums low(sums, 0);
    FourSums high(sums, 4);
    const auto add
        = [&](const float *reference, const float *values, float *distance) __attribute__((always_inline))
    {
        low.add(reference, values, distance);
        high.add(reference + 4, values + 4, distance + 4);
    };
    const std::size_t whole = block.count / kLanes * kLanes;
    for (std::size_t at = 0; at < whole; at += kLanes)
        add(block.reference + at, block.values + at, block.distance + at);
    if (const std::size_t rest = block.count - whole; rest > 0) { // lanes beyond add zeros
        std::array<float, kLanes> reference{};
        std::array<float, kLanes> values{};
        std::array<float, kLanes> distance{};
        std::copy_n(block.reference + whole, rest, reference.begin());
        std::copy_n(block.values + whole, rest, values.begin());
        add(reference.data(), values.data(), distance.data());
        std::copy_n(distance.begin(), rest, block.distance + whole);
    }
    low.store(sums, 0);
    high.store(sums, 4);
}

#ifdef __x86_64__
/// Without fused multiplication, so that every machine gives the same bits.
[[gnu::target("avx2")]] void sumAvx2(const Block &block, ErrorSums &sums)
{
    sum(block, sums);
}
#endif

void sumFastest(const Block &block, ErrorSums &sums)
{
#ifdef __x86_64__
    static const bool hasAvx2 = __builtin_cpu_supports("avx2");
    if (hasAvx2)
        return sumAvx2(block, sums);
#endif
    sum(block, sums);
}

/// Is (b.y - a.y) * (c.x - a.x) <= (c.y - a.y) * (b.x - a.x)? Multiplied out, every product is exact, and so is their sum.
bool isBelowExactly(const RelativeEnvelope::Point &a, const RelativeEnvelope::Point &b,
                    const RelativeEnvelope::Point &c)
{
    ExactSum sum;
    const auto add = [&sum](float x, float y) { sum.add(double{x} * double{y}); };
    add(b.second, c.first);
    add(-b.second, a.first);
    add(-a.second, c.first);
    add(-c.second, b.first);
    add(c.second, a.first);
    add(a.second, b.first);
    return sum.value() <= 0;
}

/// Does b, between a and c, lie on the line through both or below it? Needs: none further left or lower than the one before.
bool isBelow(const RelativeEnvelope::Point &a, const RelativeEnvelope::Point &b,
             const RelativeEnvelope::Point &c)
{
    const double rise = (double{b.second} - a.second) * (double{c.first} - a.first);
    const double line = (double{c.second} - a.second) * (double{b.first} - a.first);
    constexpr double kClear = 0x1p-48; // far beyond what six roundings do
    if (std::abs(rise - line) > kClear * std::max(rise, line))
        return rise < line;
    return isBelowExactly(a, b, c);
}

} // namespace

double decibels(double signal, double noise)
{
    if (std::isnan(signal) || std::isnan(noise))
        return kNaN;
    if (noise == 0)
        return std::numeric_limits<double>::infinity();
    return 10 * std::log10(signal / noise);
}

double cosineOf(double product, double reference, double values)
{
    if (reference == 0 || values == 0)
        return reference == values ? 1 : 0;
    const double cosine = product / (std::sqrt(reference) * std::sqrt(values));
    return std::isnan(cosine) ? kNaN : std::clamp(cosine, -1.0, 1.0); // rounding may lead a little beyond
}

void RelativeEnvelope::insert(float r, float d)
{
    constexpr std::size_t kMostAdded = 256;
    m_added.emplace_back(r, d);
    for (std::size_t k = bucketOf(r) + 1; k < m_before.size() && m_before[k] < d; ++k)
        m_before[k] = d;
    if (m_added.size() == kMostAdded)
        reduceToHull();
}

void RelativeEnvelope::add(const RelativeEnvelope &other)
{
    for (const Point &point : other.points())
        add(point.first, point.second);
}

std::vector<RelativeEnvelope::Point> RelativeEnvelope::points() const
{
    RelativeEnvelope reduced = *this;
    reduced.reduceToHull();
    return std::move(reduced.m_points);
}

void RelativeEnvelope::reduceToHull()
{
    m_points.insert(m_points.end(), m_added.begin(), m_added.end());
    m_added.clear();
    // Of points with one r only the highest can be on the hull.
    std::ranges::sort(m_points, [](const Point &a, const Point &b) {
        return a.first < b.first || (a.first == b.first && a.second > b.second);
    });
    std::vector<Point> hull;
    for (const Point &point : m_points) {
        if (!hull.empty() && point.second <= hull.back().second) // further right and no higher
            continue;
        while (hull.size() >= 2 && isBelow(hull[hull.size() - 2], hull.back(), point))
            hull.pop_back();
        hull.push_back(point);
    }
    m_points = std::move(hull);
}

double RelativeEnvelope::largest(double c) const
{
    double most = 0;
    for (const auto &[r, d] : points())
        most = std::max(most, d > 0 ? double{d} / (double{r} + c) : 0);
    return most;
}

void ErrorMetrics::add(std::span<const float> reference, std::span<const float> values)
{
    for (std::size_t at = 0; at < reference.size(); at += kSumBlock) {
        const std::size_t length = std::min(kSumBlock, reference.size() - at);
        addBlock(reference.subspan(at, length), values.subspan(at, length));
    }
    m_count += reference.size();
}

void ErrorMetrics::addBlock(std::span<const float> reference, std::span<const float> values)
{
    alignas(64) std::array<float, kSumBlock> distance;
    sumFastest({reference.data(), values.data(), reference.size(), distance.data()}, m_sums);
    // Everything finite gives finite sums in double: float's largest square is far below its limit.
    if (!std::isfinite(sumOf(m_sums.abs)))
        addOddities(reference, values);
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const float r = std::abs(reference[i]);
        if (r <= std::numeric_limits<float>::max() && distance[i] <= std::numeric_limits<float>::max())
            m_relative.add(r, distance[i]);
    }
}

void ErrorMetrics::addOddities(std::span<const float> reference, std::span<const float> values)
{
    for (std::size_t i = 0; i < reference.size(); ++i) {
        m_nan += std::isnan(values[i]) && !std::isnan(reference[i]) ? 1 : 0;
        m_overflow += std::isinf(values[i]) && std::isfinite(reference[i]) ? 1 : 0;
        m_undefined += std::isnan(values[i] - reference[i]) ? 1 : 0;
    }
}

void ErrorMetrics::endExample()
{
    const std::array<double, 5> ended{sumOf(m_sums.abs), sumOf(m_sums.squares), sumOf(m_sums.reference),
                                      sumOf(m_sums.values), sumOf(m_sums.product)};
    for (std::size_t k = 0; k < ended.size(); ++k) {
        if (ended[k] != 0)
            m_exact[k].add(ended[k]);
    }
    m_largest = std::max(m_largest, std::ranges::max(m_sums.largest));
    m_sums = {};
}

void ErrorMetrics::add(const ErrorMetrics &other)
{
    endExample();
    ErrorMetrics ended = other;
    ended.endExample();
    m_count += ended.m_count;
    m_nan += ended.m_nan;
    m_overflow += ended.m_overflow;
    m_undefined += ended.m_undefined;
    m_largest = std::max(m_largest, ended.m_largest);
    for (std::size_t k = 0; k < m_exact.size(); ++k)
        m_exact[k].add(ended.m_exact[k]);
    m_relative.add(ended.m_relative);
}

ErrorParts ErrorMetrics::parts() const
{
    ErrorMetrics ended = *this;
    ended.endExample();
    return {m_count, m_nan, m_overflow, m_undefined, ended.m_largest, ended.m_exact, m_relative.points()};
}

ErrorMetrics ErrorMetrics::ofParts(const ErrorParts &parts)
{
    ErrorMetrics metrics;
    metrics.m_count = parts.count;
    metrics.m_nan = parts.nan;
    metrics.m_overflow = parts.overflow;
    metrics.m_undefined = parts.undefined;
    metrics.m_largest = parts.largest;
    metrics.m_exact = parts.sums;
    for (const auto &[r, d] : parts.envelope)
        metrics.m_relative.add(r, d);
    return metrics;
}

ErrorFigures ErrorMetrics::figures() const
{
    ErrorFigures figures;
    figures.count = m_count;
    figures.nan = m_nan;
    figures.overflow = m_overflow;
    if (m_count == 0) {
        figures.sqnrDb = std::numeric_limits<double>::infinity(); // nothing differs
        return figures;
    }
    ErrorMetrics ended = *this;
    ended.endExample();
    const auto sum = [&ended](std::size_t k) { return ended.m_exact[k].value(); };
    const auto count = static_cast<double>(m_count);
    const double noise = sum(1);
    const double signal = sum(2);
    figures.maxAbs = m_undefined > 0 ? kNaN : ended.m_largest;
    figures.meanAbs = sum(0) / count;
    figures.rmse = std::sqrt(noise / count);
    if (signal != 0)
        figures.relativeL2 = std::sqrt(noise) / std::sqrt(signal);
    figures.cosine = cosineOf(sum(4), signal, sum(3));
    figures.sqnrDb = decibels(signal, noise);
    figures.maxRelative = std::isfinite(noise) ? m_relative.largest(1e-3 * std::sqrt(signal / count))
        : m_undefined > 0                      ? kNaN
                                               : std::numeric_limits<double>::infinity();
    return figures;
}

} // namespace halftone::tensor
