#include "core/calibration/folded_histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone::calibration {
namespace {

double cube(double x)
{
    return x * x * x;
}

/// Integral from 0 to x of the squared distance from the nearest multiple of `step`.
double rounding(double x, double step)
{
    const double steps = std::floor(x / step + 0.5);
    return steps * cube(step) / 12 + cube(x - steps * step) / 3;
}

/// What `count` values, evenly over `width`, add to the sum of count * ln(density).
double spread(double count, double width)
{
    return count > 0 ? count * std::log(count / width) : 0;
}

} // namespace

FoldedHistogram::FoldedHistogram(const TensorStatistics &statistics)
    : m_zeros(static_cast<double>(statistics.zeros))
    , m_width(statistics.histogram.limit() > 0 ? statistics.histogram.binWidth() : 0)
    , m_absMax(statistics.absMax)
    , m_total(m_zeros)
{
    const auto counts = statistics.histogram.counts();
    if (counts.empty())
        return;
    const std::size_t middle = counts.size() / 2;
    m_counts.resize(middle + 1);
    m_counts[0] = std::max(0.0, static_cast<double>(counts[middle]) - m_zeros);
    for (std::size_t k = 1; k <= middle; ++k)
        m_counts[k] = static_cast<double>(counts[middle - k]) + static_cast<double>(counts[middle + k]);
    m_below.assign(1, 0);
    for (std::size_t k = 0; k < size(); ++k) {
        m_total += m_counts[k];
        m_below.push_back(m_below.back() + m_counts[k]);
        m_density += spread(m_counts[k], upper(k) - lower(k));
        if (m_counts[k] > 0)
            m_signal += m_counts[k] * (cube(upper(k)) - cube(lower(k))) / (3 * (upper(k) - lower(k)));
    }
}

double FoldedHistogram::noise(double threshold, double step) const
{
    double sum = 0;
    double below = 0;
    for (std::size_t k = 0; k < size(); ++k) {
        const double above = rounding(std::min(upper(k), threshold), step);
        if (m_counts[k] > 0) {
            double lost = above - below;
            if (upper(k) > threshold)
                lost += (cube(upper(k) - threshold) - cube(std::max(lower(k) - threshold, 0.0))) / 3;
            sum += m_counts[k] * lost / (upper(k) - lower(k));
        }
        below = above;
    }
    return sum;
}

std::optional<double> FoldedHistogram::sqnrDb(double threshold, CodeRange range) const
{
    if (!(threshold > 0) || !(m_signal > 0))
        return std::nullopt;
    const double lost = noise(threshold, threshold / levelsOf(range));
    return lost > 0 ? 10 * std::log10(m_signal / lost) : std::numeric_limits<double>::infinity();
}

double FoldedHistogram::clippedShare(double threshold) const
{
    if (!(m_total > 0) || !(threshold < m_absMax))
        return 0;
    double clipped = 0;
    for (std::size_t k = 0; k < size(); ++k) {
        const double beyond = upper(k) - std::max(lower(k), threshold);
        if (beyond > 0)
            clipped += m_counts[k] * beyond / (upper(k) - lower(k));
    }
    return clipped / m_total;
}

double FoldedHistogram::countBelow(double value) const
{
    const double place = std::max(0.0, value / m_width + 0.5); // the first bin is half a one
    const auto bin = std::min(static_cast<std::size_t>(place), size() - 1);
    const double share = (value - lower(bin)) / (upper(bin) - lower(bin));
    return m_below[bin] + m_counts[bin] * std::clamp(share, 0.0, 1.0);
}

double FoldedHistogram::divergence(double threshold, CodeRange range) const
{
    if (m_counts.empty())
        return 0;
    const auto levels = static_cast<std::size_t>(calibration::levelsOf(range));
    const double step = threshold / static_cast<double>(levels);
    const double end = upper(size() - 1);
    double coded = 0;
    double begin = 0;
    double below = 0;
    for (std::size_t code = 0; code <= levels && begin < end; ++code) {
        const double next = code == levels ? end : std::min(end, (static_cast<double>(code) + 0.5) * step);
        const double upTo = countBelow(next);
        coded += spread(upTo - below, next - begin);
        begin = next;
        below = upTo;
    }
    return std::max(0.0, (m_density - coded) / m_total);
}

double levelsOf(CodeRange range)
{
    return range == CodeRange::Symmetric ? 127 : 255;
}

} // namespace halftone::calibration
