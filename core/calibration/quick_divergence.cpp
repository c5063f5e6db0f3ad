#include "core/calibration/quick_divergence.h"

#include "core/base/vector_loops.h"
#include "core/calibration/vector_log.h"

#include <cmath>
#include <limits>

namespace halftone::calibration {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
/// Above such a correction of the bins with counts the series below is too coarse.
constexpr double kSeriesLimit = 0.02;

double xLogX(double x)
{
    return x > 0 ? x * std::log(x) : 0;
}

/// Of groups that lie within the slice with all their bins: every one has as many reference bins as counts.
struct Cross
{
    double sum = 0; ///< Σ mass · ln(level)
    double mass = 0;
    double total = 0;
};

struct InnerCross
{
    [[gnu::always_inline]] static inline Cross run(const double *counts, const double *filled,
                                                   std::size_t width, std::size_t levels, double taken,
                                                   double lowered)
    {
        double sum = 0;
        double massOfAll = 0;
        double totalOfAll = 0;
#pragma omp simd reduction(+ : sum, massOfAll, totalOfAll)
        for (std::size_t k = 1; k < levels - 1; ++k) {
            const double total = counts[(k + 1) * width] - counts[k * width];
            const double bins = filled[(k + 1) * width] - filled[k * width];
            const bool isFilled = bins > 0;
            const double mass = isFilled ? total - bins * taken : 0;
            const double level = isFilled ? total / bins - lowered : 1;
            sum += mass * vectorLog(level);
            massOfAll += mass;
            totalOfAll += isFilled ? total : 0;
        }
        return {sum, massOfAll, totalOfAll};
    }
};

} // namespace

QuickDivergence::QuickDivergence(std::span<const std::uint64_t> counts, std::size_t levels)
    : m_levels(levels)
    , m_bins(counts.size())
    , m_sums(counts.size() + 1)
    , m_counts(counts.size() + 1)
    , m_filled(counts.size() + 1)
{
    for (std::size_t j = 0; j < m_bins; ++j) {
        const double count = static_cast<float>(counts[j]);
        Sums next = m_sums[j];
        next.count += count;
        if (count > 0) {
            next.filled += 1;
            next.xLogX += count * std::log(count);
            next.log += std::log(count);
            next.inverse += 1 / count;
            next.inverse2 += 1 / (count * count);
        }
        m_sums[j + 1] = next;
        m_counts[j + 1] = next.count;
        m_filled[j + 1] = next.filled;
    }
}

double QuickDivergence::Parts::divergence(double total) const
{
    return mean + std::log(candidateTotal / total);
}

double QuickDivergence::normalisedBy(std::size_t candidate, double referenceSum, double candidateSum) const
{
    return total() / referenceSum * (parts(candidate).mean + std::log(candidateSum / referenceSum));
}

QuickDivergence::Parts QuickDivergence::parts(std::size_t candidate) const
{
    const Slice slice = sliceOf(m_bins, candidate);
    const auto size = static_cast<double>(slice.size());
    // What is clipped lies in the outermost bins.
    const double first = m_sums[slice.begin + 1].count;
    const double last = total() - m_sums[slice.end - 1].count;
    const Sums inner = between(slice.begin + 1, slice.end - 1);
    const double filled = inner.filled + (first > 0 ? 1 : 0) + (last > 0 ? 1 : 0);
    const double taken = double{kEmptyBin} * (size - filled) / filled;
    if (filled == 0 || taken >= 1)
        return {kInfinite};
    if (taken > kSeriesLimit)
        return {std::nan("")};
    // (x - e) ln (x - e) as a series in e, summed over the bins.
    double self = inner.xLogX - taken * (inner.log + inner.filled) + taken * taken / 2 * inner.inverse
        + taken * taken * taken / 6 * inner.inverse2;
    self += first > 0 ? xLogX(first - taken) : 0;
    self += last > 0 ? xLogX(last - taken) : 0;
    self += (size - filled) * xLogX(double{kEmptyBin});
    return against(slice, first, last, filled, taken, self);
}

QuickDivergence::Sums QuickDivergence::between(std::size_t begin, std::size_t end) const
{
    const Sums &a = m_sums[begin];
    const Sums &b = m_sums[end];
    return {b.count - a.count, b.filled - a.filled,   b.xLogX - a.xLogX,
            b.log - a.log,     b.inverse - a.inverse, b.inverse2 - a.inverse2};
}

QuickDivergence::Parts QuickDivergence::against(const Slice &slice, double first, double last, double filled,
                                                double taken, double self) const
{
    const std::size_t width = slice.size() / m_levels;
    const double begun = between(slice.begin, slice.begin + 1).count;
    const double ended = between(slice.end - 1, slice.end).count;
    struct Group
    {
        double total, filled, referenceFilled, mass;
    };
    const auto groupAt = [&](std::size_t k) {
        const std::size_t from = slice.begin + k * width;
        const std::size_t to = k + 1 == m_levels ? slice.end : from + width;
        const double count = m_sums[to].count - m_sums[from].count;
        const double bins = m_sums[to].filled - m_sums[from].filled;
        Group group{count, bins, bins, count};
        if (k == 0) {
            group.total -= begun;
            group.filled -= begun > 0 ? 1 : 0;
            group.referenceFilled += (first > 0 ? 1 : 0) - (begun > 0 ? 1 : 0);
            group.mass += first - begun;
        }
        if (k + 1 == m_levels) {
            group.referenceFilled += (last > 0 ? 1 : 0) - (ended > 0 ? 1 : 0);
            group.mass += last - ended;
        }
        return group;
    };
    // Only the outermost groups can hold reference bins and no counts.
    double spread = filled;
    for (const std::size_t k : {std::size_t{0}, m_levels - 1}) {
        const Group group = groupAt(k);
        spread -= group.filled == 0 ? group.referenceFilled : 0;
    }
    const double lowered = double{kEmptyBin} * (static_cast<double>(slice.size()) - spread) / spread;
    if (spread == 0 || lowered >= 1)
        return {kInfinite};
    const Cross inner = runFastest<InnerCross>(m_counts.data() + slice.begin, m_filled.data() + slice.begin,
                                               width, m_levels, taken, lowered);
    double cross = inner.sum;
    double crossed = inner.mass;
    double candidateTotal = inner.total;
    for (const std::size_t k : {std::size_t{0}, m_levels - 1}) {
        const Group group = groupAt(k);
        if (group.filled == 0)
            continue;
        const double level = group.total / group.filled;
        const double mass = group.mass - group.referenceFilled * taken;
        cross += mass * std::log(level - lowered);
        crossed += mass;
        candidateTotal += level * group.referenceFilled;
    }
    cross += (total() - crossed) * std::log(double{kEmptyBin});
    return {(self - cross) / total(), candidateTotal};
}

} // namespace halftone::calibration
