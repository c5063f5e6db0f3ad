#include "core/calibration/histogram.h"

#include "core/calibration/bin_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace halftone::calibration {

Histogram Histogram::ofParts(double limit, std::vector<std::uint64_t> counts, bool isCoarsened)
{
    Histogram histogram;
    histogram.m_limit = limit;
    histogram.m_counts = std::move(counts);
    histogram.m_width = limit > 0 ? histogram.binWidth() : 0;
    histogram.m_isCoarsened = isCoarsened;
    return histogram;
}

void Histogram::add(std::span<const float> values, float absMax)
{
    if (absMax == 0) {
        const auto zeros = static_cast<std::uint64_t>(std::ranges::count(values, 0.0F));
        if (m_limit == 0)
            m_zerosBefore += zeros;
        else
            m_counts[m_counts.size() / 2] += zeros;
        return;
    }
    if (m_limit == 0) {
        m_limit = absMax;
        m_counts.assign(kFirstBins, 0);
        m_counts[kFirstBins / 2] = m_zerosBefore;
        m_beganWithZeros = m_zerosBefore > 0;
        m_zerosBefore = 0;
        m_width = binWidth();
    } else if (absMax > m_limit) {
        grow(absMax);
    }
    count(values);
}

void Histogram::count(std::span<const float> values)
{
    std::array<std::uint32_t, kMostValues + kBinsAhead> bins;
    const BinGrid grid{m_limit, m_width, m_counts.size()};
    for (std::size_t at = 0; at < values.size(); at += kMostValues) {
        const std::span<const float> block = values.subspan(at, std::min(kMostValues, values.size() - at));
        const BinnedValues binned = outerBins(block, grid, bins.data());
        for (std::size_t i = 0; i < binned.outer; ++i)
            ++m_counts[bins[i]];
        m_counts[m_counts.size() / 2] += block.size() - binned.outer - binned.odd;
    }
}

void Histogram::grow(double absMax)
{
    const auto wanted = [&] { return std::floor((absMax - m_limit) / m_width) + 1; };
    while (absMax > m_limit && static_cast<double>(m_counts.size()) + 2 * wanted() > kMostBins)
        coarsen();
    if (absMax <= m_limit)
        return;
    const auto more = static_cast<std::size_t>(wanted());
    m_counts.insert(m_counts.begin(), more, 0);
    m_counts.insert(m_counts.end(), more, 0);
    m_limit += static_cast<double>(more) * m_width;
    m_width = binWidth();
}

void Histogram::coarsen()
{
    // An odd number of groups of three: 3, 9, 15, …
    const std::size_t padding = (9 - m_counts.size() % 6) % 6 / 2;
    m_counts.insert(m_counts.begin(), padding, 0);
    m_counts.insert(m_counts.end(), padding, 0);
    std::vector<std::uint64_t> merged(m_counts.size() / 3);
    for (std::size_t k = 0; k < merged.size(); ++k)
        merged[k] = m_counts[3 * k] + m_counts[3 * k + 1] + m_counts[3 * k + 2];
    m_counts = std::move(merged);
    m_limit = 1.5 * m_width * static_cast<double>(m_counts.size());
    m_width = binWidth();
    m_isCoarsened = true;
}

} // namespace halftone::calibration
