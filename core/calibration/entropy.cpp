#include "core/calibration/entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone::calibration {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr float kEpsilon = 1e-4F; ///< what a bin without counts is given
/// Above such a correction of the bins with counts the series below is too coarse.
constexpr double kSeriesLimit = 0.02;

/// Candidate k keeps the bins [begin, end) around the middle one.
struct Slice
{
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t size() const { return end - begin; }
};

Slice sliceOf(std::size_t bins, std::size_t candidate)
{
    return {bins / 2 - candidate, bins / 2 + candidate + 1};
}

double xLogX(double x)
{
    return x > 0 ? x * std::log(x) : 0;
}

/// Values candidates in double from sums over the bins before each one.
class QuickDivergence
{
public:
    QuickDivergence(std::span<const std::uint64_t> counts, std::size_t levels)
        : m_levels(levels)
        , m_bins(counts.size())
        , m_sums(counts.size() + 1)
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
        }
    }

    double total() const { return m_sums[m_bins].count; }

    double operator()(std::size_t candidate) const
    {
        const Slice slice = sliceOf(m_bins, candidate);
        const auto size = static_cast<double>(slice.size());
        // What is clipped lies in the outermost bins.
        const double first = m_sums[slice.begin + 1].count;
        const double last = total() - m_sums[slice.end - 1].count;
        const Sums inner = between(slice.begin + 1, slice.end - 1);
        const double filled = inner.filled + (first > 0 ? 1 : 0) + (last > 0 ? 1 : 0);
        const double taken = double{kEpsilon} * (size - filled) / filled;
        if (filled == 0 || taken >= 1)
            return kInfinite;
        if (taken > kSeriesLimit)
            return std::nan("");
        // (x - e) ln (x - e) as a series in e, summed over the bins.
        double self = inner.xLogX - taken * (inner.log + inner.filled) + taken * taken / 2 * inner.inverse
            + taken * taken * taken / 6 * inner.inverse2;
        self += first > 0 ? xLogX(first - taken) : 0;
        self += last > 0 ? xLogX(last - taken) : 0;
        self += (size - filled) * xLogX(double{kEpsilon});
        return against(slice, first, last, filled, taken, self);
    }

private:
    struct Sums
    {
        double count = 0;
        double filled = 0;
        double xLogX = 0;
        double log = 0;
        double inverse = 0;
        double inverse2 = 0;
    };

    Sums between(std::size_t begin, std::size_t end) const
    {
        const Sums &a = m_sums[begin];
        const Sums &b = m_sums[end];
        return {b.count - a.count, b.filled - a.filled,   b.xLogX - a.xLogX,
                b.log - a.log,     b.inverse - a.inverse, b.inverse2 - a.inverse2};
    }

    /// self: Σ P ln P of the smoothed reference, not normalised
    double against(const Slice &slice, double first, double last, double filled, double taken,
                   double self) const
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
        const double lowered = double{kEpsilon} * (static_cast<double>(slice.size()) - spread) / spread;
        if (spread == 0 || lowered >= 1)
            return kInfinite;
        double cross = 0;
        double crossed = 0;
        double candidateTotal = 0;
        for (std::size_t k = 0; k < m_levels; ++k) {
            const Group group = groupAt(k);
            if (group.filled == 0)
                continue;
            const double level = group.total / group.filled;
            const double mass = group.mass - group.referenceFilled * taken;
            cross += mass * std::log(level - lowered);
            crossed += mass;
            candidateTotal += level * group.referenceFilled;
        }
        cross += (total() - crossed) * std::log(double{kEpsilon});
        return (self - cross) / total() + std::log(candidateTotal / total());
    }

    std::size_t m_levels;
    std::size_t m_bins;
    std::vector<Sums> m_sums;
};

/// Takes from bins with counts what those without are given. False where that is not possible.
bool smooth(std::vector<float> &bins)
{
    const auto empty = static_cast<std::size_t>(std::ranges::count(bins, 0.0F));
    const std::size_t filled = bins.size() - empty;
    if (filled == 0)
        return false;
    const float taken = kEpsilon * static_cast<float>(empty) / static_cast<float>(filled);
    if (taken >= 1)
        return false;
    for (float &bin : bins)
        bin = bin == 0 ? kEpsilon : bin - taken;
    return true;
}

float sequentialSum(std::span<const float> values)
{
    float sum = 0;
    for (const float value : values)
        sum += value;
    return sum;
}

/// What quantizing makes of the slice: every group's mean over its bins with counts.
std::vector<float> quantized(std::span<const float> slice, std::span<const float> reference,
                             std::size_t levels)
{
    std::vector<float> spread(slice.size());
    const std::size_t width = slice.size() / levels;
    for (std::size_t k = 0; k < levels; ++k) {
        const std::size_t from = k * width;
        const std::size_t to = k + 1 == levels ? slice.size() : from + width;
        double total = 0;
        std::size_t filled = 0;
        for (std::size_t j = from; j < to; ++j) {
            total += double{slice[j]};
            filled += slice[j] != 0 ? 1 : 0;
        }
        const float level = filled > 0 ? static_cast<float>(total) / static_cast<float>(filled) : 0;
        for (std::size_t j = from; j < to; ++j)
            spread[j] = reference[j] != 0 ? level : 0;
    }
    return spread;
}

} // namespace

float entropyDivergence(const Histogram &histogram, std::size_t levels, std::size_t candidate)
{
    const auto counts = histogram.counts();
    const Slice slice = sliceOf(counts.size(), candidate);
    std::vector<float> kept(slice.size());
    for (std::size_t j = slice.begin; j < slice.end; ++j)
        kept[j - slice.begin] = static_cast<float>(counts[j]);
    std::vector<float> reference = kept;
    reference.front() = 0;
    reference.back() = 0;
    for (std::size_t j = 0; j <= slice.begin; ++j)
        reference.front() += static_cast<float>(counts[j]);
    for (std::size_t j = slice.end - 1; j < counts.size(); ++j)
        reference.back() += static_cast<float>(counts[j]);
    kept.front() = 0; // MXNet's asymmetry: the leftmost bin is not quantized
    std::vector<float> candidateBins = quantized(kept, reference, levels);
    if (!smooth(reference) || !smooth(candidateBins))
        return std::numeric_limits<float>::infinity();
    const float referenceSum = sequentialSum(reference);
    const float candidateSum = sequentialSum(candidateBins);
    float divergence = 0;
    for (std::size_t j = 0; j < reference.size(); ++j) {
        const float p = reference[j] / referenceSum;
        const float q = candidateBins[j] / candidateSum;
        divergence += p * std::log(p / q);
    }
    return std::isfinite(divergence) ? divergence : std::numeric_limits<float>::infinity();
}

DivergenceCurve divergenceCurve(const Histogram &histogram, std::size_t levels, const std::stop_token &stop)
{
    DivergenceCurve curve{levels / 2, {}};
    const std::size_t last = histogram.counts().size() / 2;
    if (histogram.limit() == 0 || last < curve.first)
        return curve;
    const QuickDivergence quick(histogram.counts(), levels);
    curve.divergences.reserve(last - curve.first + 1);
    for (std::size_t k = curve.first; k <= last && !stop.stop_requested(); ++k) {
        const double value = quick(k);
        curve.divergences.push_back(std::isnan(value) ? double{entropyDivergence(histogram, levels, k)}
                                                      : value);
    }
    return curve;
}

std::optional<EntropyChoice> chooseByEntropy(const Histogram &histogram, std::size_t levels,
                                             const std::stop_token &stop)
{
    // What strictly sequential float32 sums over some thousands of bins may be off by.
    constexpr double kAbsoluteMargin = 1e-4;
    constexpr double kRelativeMargin = 2e-3;
    const DivergenceCurve curve = divergenceCurve(histogram, levels, stop);
    if (curve.divergences.empty() || stop.stop_requested())
        return std::nullopt;
    const auto least = std::ranges::min_element(curve.divergences);
    if (!std::isfinite(*least))
        return std::nullopt;
    const auto chosen = [&](std::size_t candidate, double divergence, bool isExact) {
        const std::size_t edge = histogram.counts().size() / 2 + candidate + 1;
        return EntropyChoice{candidate, double{histogram.edge(edge)}, divergence, isExact};
    };
    if (histogram.counts().size() > kExactBins)
        return chosen(curve.first + static_cast<std::size_t>(least - curve.divergences.begin()), *least,
                      false);
    const double bound = *least + kAbsoluteMargin + kRelativeMargin * std::abs(*least);
    float best = std::numeric_limits<float>::infinity();
    std::size_t place = 0;
    for (std::size_t k = 0; k < curve.divergences.size(); ++k) {
        if (!(curve.divergences[k] <= bound))
            continue;
        if (stop.stop_requested())
            return std::nullopt;
        const float exact = entropyDivergence(histogram, levels, curve.first + k);
        if (exact < best) {
            best = exact;
            place = k;
        }
    }
    if (!std::isfinite(best))
        return std::nullopt;
    return chosen(curve.first + place, double{best}, true);
}

} // namespace halftone::calibration
