#include "core/tensor/error_metrics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace halftone::tensor {
namespace {

constexpr std::size_t kBlock = 1024;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double sumOf(std::span<const double> lanes)
{
    return std::accumulate(lanes.begin(), lanes.end(), 0.0);
}

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

} // namespace

std::size_t RelativeEnvelope::bucketOf(float r)
{
    return std::bit_cast<std::uint32_t>(r) >> kDroppedBits;
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
        const auto isBelow = [&] { // the last point, seen from its neighbours
            const Point &a = hull[hull.size() - 2];
            const Point &b = hull.back();
            return (double{b.second} - a.second) * (double{point.first} - a.first)
                <= (double{point.second} - a.second) * (double{b.first} - a.first);
        };
        while (hull.size() >= 2 && isBelow())
            hull.pop_back();
        hull.push_back(point);
    }
    m_points = std::move(hull);
}

double RelativeEnvelope::largest(double c) const
{
    double most = 0;
    for (const auto *points : {&m_points, &m_added}) {
        for (const auto &[r, d] : *points)
            most = std::max(most, d > 0 ? double{d} / (double{r} + c) : 0);
    }
    return most;
}

void ErrorMetrics::add(std::span<const float> reference, std::span<const float> values)
{
    for (std::size_t at = 0; at < reference.size(); at += kBlock) {
        const std::size_t length = std::min(kBlock, reference.size() - at);
        addBlock(reference.subspan(at, length), values.subspan(at, length));
    }
    m_count += reference.size();
}

void ErrorMetrics::addBlock(std::span<const float> reference, std::span<const float> values)
{
    std::array<double, kBlock> distance; // |d|, exact up to one rounding of double
    std::array<double, kLanes> largest{};
    const std::size_t count = reference.size();
    const auto addOne = [&](std::size_t i, std::size_t lane) {
        const double r = reference[i];
        const double x = values[i];
        const double d = std::abs(x - r);
        distance[i] = d;
        largest[lane] = d > largest[lane] ? d : largest[lane];
        m_abs[lane] += d;
        m_squares[lane] += d * d;
        m_reference[lane] += r * r;
        m_values[lane] += x * x;
        m_product[lane] += r * x;
    };
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            addOne(i + lane, lane);
    }
    for (std::size_t lane = 0; i < count; ++i, ++lane)
        addOne(i, lane);
    m_maxAbs = std::max(m_maxAbs, std::ranges::max(largest));
    // Everything finite gives finite sums of squares in double: float's largest square is far below its limit.
    const double total
        = std::accumulate(distance.begin(), distance.begin() + static_cast<std::ptrdiff_t>(count), 0.0);
    if (!std::isfinite(total))
        addOddities(reference, values);
    for (i = 0; i < count; ++i) {
        const float r = std::abs(reference[i]);
        const auto d = static_cast<float>(distance[i]);
        if (r <= std::numeric_limits<float>::max() && d <= std::numeric_limits<float>::max())
            m_relative.add(r, d);
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

ErrorFigures ErrorMetrics::figures() const
{
    ErrorFigures figures;
    figures.count = m_count;
    figures.nan = m_nan;
    figures.overflow = m_overflow;
    if (m_count == 0)
        return figures;
    const auto count = static_cast<double>(m_count);
    const double noise = sumOf(m_squares);
    const double signal = sumOf(m_reference);
    figures.maxAbs = m_undefined > 0 ? kNaN : m_maxAbs;
    figures.meanAbs = sumOf(m_abs) / count;
    figures.rmse = std::sqrt(noise / count);
    if (signal != 0)
        figures.relativeL2 = std::sqrt(noise) / std::sqrt(signal);
    figures.cosine = cosineOf(sumOf(m_product), signal, sumOf(m_values));
    figures.sqnrDb = decibels(signal, noise);
    figures.maxRelative = std::isfinite(noise) ? m_relative.largest(1e-3 * std::sqrt(signal / count))
        : m_undefined > 0                      ? kNaN
                                               : std::numeric_limits<double>::infinity();
    return figures;
}

} // namespace halftone::tensor
