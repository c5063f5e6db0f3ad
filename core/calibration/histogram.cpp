#include "core/calibration/histogram.h"

#include "core/calibration/bin_values.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace halftone::calibration {

Histogram Histogram::ofParts(double limit, std::vector<std::uint64_t> counts, bool isCoarsened)
{
    Histogram histogram;
    histogram.m_limit = limit;
    histogram.m_bins = counts.size();
    histogram.m_counts = std::move(counts);
    histogram.m_width = limit > 0 ? histogram.binWidth() : 0;
    histogram.m_isCoarsened = isCoarsened;
    return histogram;
}

Histogram Histogram::ofZeros(std::uint64_t zeros)
{
    Histogram histogram;
    histogram.m_zerosBefore = zeros;
    return histogram;
}

std::vector<std::uint64_t> Histogram::counts() const
{
    if (!isPacked())
        return m_counts;
    std::vector<std::uint64_t> counts(m_bins);
    for (const Filled &filled : m_filled)
        counts[filled.bin] = filled.count;
    return counts;
}

bool Histogram::operator==(const Histogram &other) const
{
    return m_limit == other.m_limit && m_bins == other.m_bins && m_zerosBefore == other.m_zerosBefore
        && m_beganWithZeros == other.m_beganWithZeros && m_isCoarsened == other.m_isCoarsened
        && counts() == other.counts();
}

void Histogram::pack()
{
    constexpr std::size_t kWorthIt = 4; // two numbers instead of one, with room to spare
    const auto filled
        = m_counts.size() - static_cast<std::size_t>(std::ranges::count(m_counts, std::uint64_t{0}));
    if (isPacked() || filled * kWorthIt > m_counts.size())
        return;
    m_filled.reserve(filled);
    for (std::size_t k = 0; k < m_counts.size(); ++k) {
        if (m_counts[k] > 0)
            m_filled.push_back({k, m_counts[k]});
    }
    m_counts = std::vector<std::uint64_t>(); // an empty list would keep the memory
}

void Histogram::unpack()
{
    if (!isPacked())
        return;
    m_counts = counts();
    m_filled = std::vector<Filled>();
}

void Histogram::add(std::size_t bin, std::uint64_t count)
{
    if (count == 0)
        return;
    if (!isPacked()) {
        m_counts[bin] += count;
        return;
    }
    const auto at = std::ranges::lower_bound(m_filled, bin, {}, &Filled::bin);
    if (at != m_filled.end() && at->bin == bin)
        at->count += count;
    else
        m_filled.insert(at, {bin, count});
}

void Histogram::add(std::span<const float> values, float absMax)
{
    if (absMax == 0) {
        const auto zeros = static_cast<std::uint64_t>(std::ranges::count(values, 0.0F));
        if (m_limit == 0)
            m_zerosBefore += zeros;
        else
            add(m_bins / 2, zeros);
        return;
    }
    if (m_limit == 0) {
        m_limit = absMax;
        m_bins = kFirstBins;
        add(kFirstBins / 2, m_zerosBefore);
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
    const BinGrid grid{m_limit, m_width, m_bins};
    if (m_filled.size() + values.size() > kMostFilled)
        unpack();
    for (std::size_t at = 0; at < values.size(); at += kMostValues) {
        const std::span<const float> block = values.subspan(at, std::min(kMostValues, values.size() - at));
        const BinnedValues binned = outerBins(block, grid, bins.data());
        if (isPacked())
            std::for_each_n(bins.begin(), binned.outer, [this](std::uint32_t bin) { add(bin, 1); });
        else
            std::for_each_n(bins.begin(), binned.outer, [this](std::uint32_t bin) { ++m_counts[bin]; });
        add(m_bins / 2, block.size() - binned.outer - binned.odd);
    }
}

void Histogram::grow(double absMax)
{
    const auto wanted = [&] { return std::floor((absMax - m_limit) / m_width) + 1; };
    while (absMax > m_limit && static_cast<double>(m_bins) + 2 * wanted() > kMostBins)
        coarsen();
    if (absMax <= m_limit)
        return;
    const auto more = static_cast<std::size_t>(wanted());
    widen(more);
    m_limit += static_cast<double>(more) * m_width;
    m_width = binWidth();
}

/// By empty bins on both sides.
void Histogram::widen(std::size_t more)
{
    if (!isPacked()) {
        m_counts.insert(m_counts.begin(), more, 0);
        m_counts.insert(m_counts.end(), more, 0);
    }
    for (Filled &filled : m_filled)
        filled.bin += more;
    m_bins += 2 * more;
}

void Histogram::coarsen()
{
    // An odd number of groups of three: 3, 9, 15, …
    unpack();
    widen((9 - m_bins % 6) % 6 / 2);
    std::vector<std::uint64_t> merged(m_counts.size() / 3);
    for (std::size_t k = 0; k < merged.size(); ++k)
        merged[k] = m_counts[3 * k] + m_counts[3 * k + 1] + m_counts[3 * k + 2];
    m_counts = std::move(merged);
    m_bins = m_counts.size();
    m_limit = 1.5 * m_width * static_cast<double>(m_bins);
    m_width = binWidth();
    m_isCoarsened = true;
}

} // namespace halftone::calibration
