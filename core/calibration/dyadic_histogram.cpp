#include "core/calibration/dyadic_histogram.h"

#include "core/calibration/block_loops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace halftone::calibration {
namespace {

bool isFinite(float value)
{
    return std::abs(value) <= std::numeric_limits<float>::max();
}

/// Needs: finite values.
float largestOf(std::span<const float> values)
{
    float largest = 0;
    for (const float value : values)
        largest = std::max(largest, std::abs(value));
    return largest;
}

} // namespace

int DyadicHistogram::scaleFor(float absMax)
{
    return std::max(std::ilogb(absMax) + 1 - kBinBits, kLowestScale);
}

void DyadicHistogram::add(std::span<const float> values, float absMax)
{
    if (hasOnlyFew() && m_few.size() + values.size() <= kMostFew) {
        std::ranges::copy_if(values, std::back_inserter(m_few), isFinite);
        return;
    }
    countFew();
    count(values, absMax);
}

void DyadicHistogram::countFew()
{
    const std::vector<float> few = std::exchange(m_few, {});
    if (!few.empty())
        count(few, largestOf(few));
}

void DyadicHistogram::count(std::span<const float> values, float absMax)
{
    if (absMax == 0) {
        const auto zeros = static_cast<std::uint64_t>(std::ranges::count(values, 0.0F));
        if (m_scale == kNoScale)
            m_zerosBefore += zeros;
        else if (zeros > 0)
            cover(0, 0), at(0) += zeros;
        return;
    }
    rescale(scaleFor(absMax));
    const double perWidth = std::ldexp(1.0, -m_scale);
    std::array<std::int32_t, kMostValues> bins;
    for (std::size_t from = 0; from < values.size(); from += bins.size()) {
        const auto block = values.subspan(from, std::min(bins.size(), values.size() - from));
        const BinsOfWidth found = binsOfWidth(block, perWidth, bins.data());
        if (found.others == 0 && found.zeroth == 0)
            continue;
        cover(found.least, found.most);
        std::uint64_t *const counts = m_counts.data();
        for (const std::int32_t bin : std::span(bins).first(found.others))
            ++counts[bin - m_first];
        if (found.zeroth > 0)
            at(0) += found.zeroth;
    }
}

void DyadicHistogram::add(const DyadicHistogram &other)
{
    if (!other.m_few.empty()) {
        const std::vector<float> few = other.m_few; // it may be this one
        return add(few, largestOf(few));
    }
    countFew();
    if (other.m_scale == kNoScale) {
        if (m_scale == kNoScale)
            m_zerosBefore += other.m_zerosBefore;
        else if (other.m_zerosBefore > 0)
            cover(0, 0), at(0) += other.m_zerosBefore;
        return;
    }
    DyadicHistogram scaled = other;
    rescale(other.m_scale);
    scaled.rescale(m_scale);
    cover(scaled.m_first, scaled.m_first + static_cast<std::int32_t>(scaled.m_counts.size()) - 1);
    std::ranges::transform(scaled.m_counts, std::span(&at(scaled.m_first), scaled.m_counts.size()),
                           &at(scaled.m_first), std::plus<>());
}

/// To bins of 2^scale, if these are larger. Halves round down, on either side of zero.
void DyadicHistogram::rescale(int scale)
{
    if (m_scale == kNoScale) {
        m_scale = scale;
        if (m_zerosBefore > 0) {
            m_first = 0;
            m_counts = {m_zerosBefore};
        }
        m_zerosBefore = 0;
        return;
    }
    if (scale <= m_scale)
        return;
    const int shift = std::min(scale - m_scale, 31);
    DyadicHistogram merged;
    if (!m_counts.empty())
        merged.cover(m_first >> shift, (m_first + static_cast<std::int32_t>(m_counts.size()) - 1) >> shift);
    for (std::size_t k = 0; k < m_counts.size(); ++k)
        merged.at((m_first + static_cast<std::int32_t>(k)) >> shift) += m_counts[k];
    m_first = merged.m_first;
    m_counts = std::move(merged.m_counts);
    m_scale = scale;
}

/// Makes room for the bins from `first` to `last`.
void DyadicHistogram::cover(std::int32_t first, std::int32_t last)
{
    if (m_counts.empty())
        m_first = first;
    if (first < m_first) {
        m_counts.insert(m_counts.begin(), static_cast<std::size_t>(m_first - first), 0);
        m_first = first;
    }
    m_counts.resize(std::max(m_counts.size(), static_cast<std::size_t>(last - m_first + 1)));
}

Histogram DyadicHistogram::histogram() const
{
    if (!m_few.empty()) {
        DyadicHistogram counted = *this;
        counted.countFew();
        return counted.histogram();
    }
    if (m_scale == kNoScale)
        return Histogram::ofZeros(m_zerosBefore);
    // Bin j of twice the width holds the bins 2j - 1 and 2j.
    const auto last = m_first + static_cast<std::int32_t>(m_counts.size()) - 1;
    const std::int32_t most = std::max(-((m_first + 1) >> 1), (last + 1) >> 1);
    std::vector<std::uint64_t> counts(2 * static_cast<std::size_t>(most) + 1);
    for (std::size_t k = 0; k < m_counts.size(); ++k) {
        const std::int32_t place = ((m_first + static_cast<std::int32_t>(k) + 1) >> 1) + most;
        counts[static_cast<std::size_t>(place)] += m_counts[k];
    }
    const double limit = std::ldexp(static_cast<double>(counts.size()), m_scale);
    Histogram histogram = Histogram::ofParts(limit, std::move(counts), false);
    histogram.pack();
    return histogram;
}

DyadicHistogram::Parts DyadicHistogram::parts() const
{
    if (!m_few.empty()) {
        DyadicHistogram counted = *this;
        counted.countFew();
        return counted.parts();
    }
    const auto isUsed = [](std::uint64_t count) { return count > 0; };
    const auto first = std::ranges::find_if(m_counts, isUsed);
    const auto last = std::find_if(m_counts.rbegin(), m_counts.rend(), isUsed).base();
    if (first == m_counts.end())
        return {m_scale, m_zerosBefore, 0, {}};
    return {m_scale, m_zerosBefore, m_first + static_cast<std::int32_t>(first - m_counts.begin()),
            std::vector<std::uint64_t>(first, last)};
}

bool DyadicHistogram::takeParts(Parts parts)
{
    constexpr std::int32_t kMost = 1 << kBinBits;
    const bool hasScale = parts.scale != kNoScale;
    const bool isScale = hasScale && parts.scale >= kLowestScale && parts.scale <= kHighestScale;
    const bool fits = parts.first >= -kMost && parts.first < kMost
        && parts.counts.size() <= static_cast<std::size_t>(kMost - parts.first);
    if (hasScale ? !isScale || !fits || parts.counts.empty() || parts.zerosBefore > 0 : !parts.counts.empty())
        return false;
    m_few.clear();
    m_scale = parts.scale;
    m_zerosBefore = parts.zerosBefore;
    m_first = parts.first;
    m_counts = std::move(parts.counts);
    return true;
}

} // namespace halftone::calibration
