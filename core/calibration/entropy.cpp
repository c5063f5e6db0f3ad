#include "core/calibration/entropy.h"

#include "core/calibration/vector_log.h"
#include "core/calibration/vector_loops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

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

    double total() const { return m_sums[m_bins].count; }

    double operator()(std::size_t candidate) const { return parts(candidate).divergence(total()); }

    /// With other sums of the two distributions than the true ones.
    double normalisedBy(std::size_t candidate, double referenceSum, double candidateSum) const
    {
        return total() / referenceSum * (parts(candidate).mean + std::log(candidateSum / referenceSum));
    }

private:
    struct Parts
    {
        double mean = 0; ///< of ln(reference / candidate), neither of them normalised
        double candidateTotal = 1;

        double divergence(double total) const { return mean + std::log(candidateTotal / total); }
    };

    Parts parts(std::size_t candidate) const
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
            return {kInfinite};
        if (taken > kSeriesLimit)
            return {std::nan("")};
        // (x - e) ln (x - e) as a series in e, summed over the bins.
        double self = inner.xLogX - taken * (inner.log + inner.filled) + taken * taken / 2 * inner.inverse
            + taken * taken * taken / 6 * inner.inverse2;
        self += first > 0 ? xLogX(first - taken) : 0;
        self += last > 0 ? xLogX(last - taken) : 0;
        self += (size - filled) * xLogX(double{kEpsilon});
        return against(slice, first, last, filled, taken, self);
    }

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
    Parts against(const Slice &slice, double first, double last, double filled, double taken,
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
            return {kInfinite};
        const Cross inner = crossOfInner(slice.begin, width, m_levels, taken, lowered);
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
        cross += (total() - crossed) * std::log(double{kEpsilon});
        return {(self - cross) / total(), candidateTotal};
    }

    /// Of groups that lie within the slice with all their bins: every one has as many reference bins as counts.
    struct Cross
    {
        double sum = 0; ///< Σ mass · ln(level)
        double mass = 0;
        double total = 0;
    };

    Cross crossOfInner(std::size_t begin, std::size_t width, std::size_t levels, double taken,
                       double lowered) const
    {
        return runFastest<InnerCross>(m_counts.data() + begin, m_filled.data() + begin, width, levels, taken,
                                      lowered);
    }

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

    std::size_t m_levels;
    std::size_t m_bins;
    std::vector<Sums> m_sums;
    std::vector<double> m_counts; ///< of m_sums, where vectors find them
    std::vector<double> m_filled;
};

/// The distribution that a candidate keeps and what quantizing makes of it, both smoothed, but not yet of sum 1.
struct Smoothed
{
    std::vector<float> reference;
    std::vector<float> candidate;
    bool isDefined = false;
};

/// Takes from bins with counts what those without are given.
struct Smooth
{
    [[gnu::always_inline]] static inline bool run(float *bins, std::size_t size)
    {
        std::uint32_t empty = 0;
#pragma omp simd reduction(+ : empty)
        for (std::size_t j = 0; j < size; ++j)
            empty += bins[j] == 0 ? 1U : 0U;
        const std::size_t filled = size - empty;
        const float taken
            = filled > 0 ? kEpsilon * static_cast<float>(empty) / static_cast<float>(filled) : 1.0F;
        if (taken >= 1)
            return false;
#pragma omp simd
        for (std::size_t j = 0; j < size; ++j)
            bins[j] = bins[j] == 0 ? kEpsilon : bins[j] - taken;
        return true;
    }
};

/// p ln(p / q) of every bin, in place of p. Rounded from double, since logarithms of float32 are no faster.
struct Terms
{
    [[gnu::always_inline]] static inline void run(float *reference, const float *candidate, std::size_t size,
                                                  float referenceSum, float candidateSum)
    {
#pragma omp simd
        for (std::size_t j = 0; j < size; ++j) {
            const float p = reference[j] / referenceSum;
            const float q = candidate[j] / candidateSum;
            const float ratio = p / q;
            const bool isNormal
                = ratio >= std::numeric_limits<float>::min() && ratio <= std::numeric_limits<float>::max();
            const auto log = static_cast<float>(vectorLog(isNormal ? double{ratio} : 1.0));
            reference[j] = isNormal ? p * log : std::numeric_limits<float>::quiet_NaN();
        }
    }
};

/// MXNet's divergences of many candidates. Its sums are strictly sequential, so that a single one waits for every addition;
/// several go side by side.
class ExactDivergence
{
public:
    static constexpr std::size_t kLanes = 8;

    ExactDivergence(std::span<const std::uint64_t> counts, std::size_t levels)
        : m_levels(levels)
        , m_counts(counts.size())
        , m_sums(counts.size() + 1)
        , m_filled(counts.size() + 1)
    {
        float fromLeft = 0;
        for (std::size_t j = 0; j < counts.size(); ++j) {
            m_counts[j] = static_cast<float>(counts[j]);
            fromLeft += m_counts[j];
            m_fromLeft.push_back(fromLeft);
            m_sums[j + 1] = m_sums[j] + double{m_counts[j]};
            m_filled[j + 1] = m_filled[j] + (m_counts[j] != 0 ? 1 : 0);
        }
    }

    struct Sums
    {
        std::array<float, kLanes> reference{};
        std::array<float, kLanes> candidate{};
    };

    /// What the distributions of some candidates are divided by; meaningless where one is not defined. Needs: at most kLanes.
    Sums sumsOf(std::span<const std::size_t> candidates)
    {
        for (std::size_t l = 0; l < kLanes; ++l) {
            if (l < candidates.size())
                fill(m_lanes[l], candidates[l]);
            else
                m_lanes[l].isDefined = false;
            if (!m_lanes[l].isDefined) {
                m_lanes[l].reference.clear();
                m_lanes[l].candidate.clear();
            }
        }
        return {sums(&Smoothed::reference), sums(&Smoothed::candidate)};
    }

    bool isDefined(std::size_t lane) const { return m_lanes[lane].isDefined; }

    /// Infinite where a divergence is not defined. Needs: at most kLanes candidates.
    void operator()(std::span<const std::size_t> candidates, std::span<float> divergences)
    {
        const Sums norms = sumsOf(candidates);
        for (std::size_t l = 0; l < kLanes; ++l) {
            Smoothed &lane = m_lanes[l];
            runFastest<Terms>(lane.reference.data(), std::as_const(lane.candidate).data(),
                              lane.reference.size(), norms.reference[l], norms.candidate[l]);
        }
        const auto terms = sums(&Smoothed::reference);
        for (std::size_t l = 0; l < candidates.size(); ++l) {
            const bool isFinite = m_lanes[l].isDefined && std::isfinite(terms[l]);
            divergences[l] = isFinite ? terms[l] : std::numeric_limits<float>::infinity();
        }
    }

private:
    /// Sequential within a lane.
    std::array<float, kLanes> sums(std::vector<float> Smoothed::*bins) const
    {
        std::array<float, kLanes> sums{};
        std::array<const float *, kLanes> lanes{};
        std::size_t common = std::numeric_limits<std::size_t>::max();
        for (std::size_t l = 0; l < kLanes; ++l) {
            lanes[l] = (m_lanes[l].*bins).data();
            common = std::min(common, (m_lanes[l].*bins).size());
        }
        for (std::size_t j = 0; j < common; ++j) {
            for (std::size_t l = 0; l < kLanes; ++l)
                sums[l] += lanes[l][j];
        }
        for (std::size_t l = 0; l < kLanes; ++l) {
            for (std::size_t j = common; j < (m_lanes[l].*bins).size(); ++j)
                sums[l] += lanes[l][j];
        }
        return sums;
    }

    void fill(Smoothed &lane, std::size_t candidate)
    {
        const Slice slice = sliceOf(m_counts.size(), candidate);
        const std::size_t size = slice.size();
        const float *const kept = m_counts.data() + slice.begin;
        lane.reference.assign(kept, kept + size);
        lane.reference.front() = m_fromLeft[slice.begin];
        lane.reference.back() = 0;
        for (std::size_t j = slice.end - 1; j < m_counts.size(); ++j)
            lane.reference.back() += m_counts[j];
        lane.candidate.resize(size);
        const std::size_t width = size / m_levels;
        for (std::size_t k = 0; k < m_levels; ++k) {
            // MXNet's asymmetry: the leftmost bin is not quantized.
            const std::size_t from = k * width;
            const std::size_t counted = std::max<std::size_t>(from, 1);
            const std::size_t to = k + 1 == m_levels ? size : from + width;
            const double total = m_sums[slice.begin + to] - m_sums[slice.begin + counted];
            const double filled = m_filled[slice.begin + to] - m_filled[slice.begin + counted];
            const float level = filled > 0 ? static_cast<float>(total) / static_cast<float>(filled) : 0;
            for (std::size_t j = from; j < to; ++j)
                lane.candidate[j] = lane.reference[j] != 0 ? level : 0;
        }
        lane.isDefined = runFastest<Smooth>(lane.reference.data(), size)
            && runFastest<Smooth>(lane.candidate.data(), size);
    }

    std::size_t m_levels;
    std::vector<float> m_counts;
    std::vector<float> m_fromLeft; ///< sequential sums of the counts up to a bin, that one included
    std::vector<double> m_sums; ///< of the counts before a bin
    std::vector<double> m_filled;
    std::array<Smoothed, kLanes> m_lanes;
};

/// The divergences of candidates in the order given. Fewer when stopped.
std::vector<float> exactDivergences(ExactDivergence &exact, std::span<const std::size_t> candidates,
                                    const std::stop_token &stop)
{
    std::vector<float> divergences(candidates.size());
    for (std::size_t at = 0; at < candidates.size() && !stop.stop_requested();
         at += ExactDivergence::kLanes) {
        const std::size_t size = std::min(ExactDivergence::kLanes, candidates.size() - at);
        exact(candidates.subspan(at, size), std::span(divergences).subspan(at, size));
    }
    return divergences;
}

/// Infinite where not defined; NaN where the quick way gives nothing.
std::vector<double> quickDivergences(const QuickDivergence &quick, std::size_t first, std::size_t last,
                                     const std::stop_token &stop)
{
    std::vector<double> divergences;
    divergences.reserve(last - first + 1);
    for (std::size_t k = first; k <= last && !stop.stop_requested(); ++k)
        divergences.push_back(quick(k));
    return divergences;
}

void fillGaps(DivergenceCurve &curve, ExactDivergence &exact, const std::stop_token &stop)
{
    std::vector<std::size_t> gaps;
    for (std::size_t k = 0; k < curve.divergences.size(); ++k) {
        if (std::isnan(curve.divergences[k]))
            gaps.push_back(curve.first + k);
    }
    const std::vector<float> divergences = exactDivergences(exact, gaps, stop);
    for (std::size_t i = 0; i < gaps.size(); ++i)
        curve.divergences[gaps[i] - curve.first] = double{divergences[i]};
}

/// The candidates whose divergence is the least one, or near it.
std::vector<std::size_t> nearLeast(std::span<const std::size_t> candidates,
                                   std::span<const double> divergences, double absolute, double relative)
{
    const double least = *std::ranges::min_element(divergences);
    const double bound = least + absolute + relative * std::abs(least);
    std::vector<std::size_t> near;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (divergences[i] <= bound)
            near.push_back(candidates[i]);
    }
    return near;
}

/// Those candidates that MXNet's float32 sums could find least. What a sequential sum of many counts loses is divided by
/// and shifts a divergence by far more than its own sum's rounding does; so the two sums that are divided by are made first.
std::vector<std::size_t> finalists(const DivergenceCurve &curve, const QuickDivergence &quick,
                                   ExactDivergence &exact, std::size_t bins, const std::stop_token &stop)
{
    constexpr double kNormsOff = 1e-4; // of sums over some thousands of bins
    constexpr double kNormsOffRelative = 2e-3;
    // A bound on n sequential additions, twice; and the rounding of the single terms.
    const double sumOff = 2 * static_cast<double>(bins) * 0x1p-24;
    constexpr double kTermsOff = 1e-6;
    std::vector<std::size_t> all(curve.divergences.size());
    std::iota(all.begin(), all.end(), curve.first);
    const std::vector<std::size_t> candidates
        = nearLeast(all, curve.divergences, kNormsOff, kNormsOffRelative + sumOff);
    std::vector<double> refined;
    for (std::size_t at = 0; at < candidates.size() && !stop.stop_requested();
         at += ExactDivergence::kLanes) {
        const auto lanes
            = std::span(candidates).subspan(at, std::min(ExactDivergence::kLanes, candidates.size() - at));
        const ExactDivergence::Sums sums = exact.sumsOf(lanes);
        for (std::size_t l = 0; l < lanes.size(); ++l) {
            const double divergence
                = quick.normalisedBy(lanes[l], double{sums.reference[l]}, double{sums.candidate[l]});
            const bool isGap = std::isnan(divergence);
            refined.push_back(!exact.isDefined(l) ? kInfinite
                                  : isGap         ? curve.divergences[lanes[l] - curve.first]
                                                  : divergence);
        }
    }
    if (stop.stop_requested())
        return {};
    return nearLeast(candidates, refined, kTermsOff, sumOff);
}

} // namespace

float entropyDivergence(const Histogram &histogram, std::size_t levels, std::size_t candidate)
{
    ExactDivergence exact(histogram.counts(), levels);
    return exactDivergences(exact, std::span(&candidate, 1), {}).front();
}

DivergenceCurve divergenceCurve(const Histogram &histogram, std::size_t levels, const std::stop_token &stop)
{
    DivergenceCurve curve{levels / 2, {}};
    const std::size_t last = histogram.counts().size() / 2;
    if (histogram.limit() == 0 || last < curve.first)
        return curve;
    curve.divergences
        = quickDivergences(QuickDivergence(histogram.counts(), levels), curve.first, last, stop);
    ExactDivergence exact(histogram.counts(), levels);
    fillGaps(curve, exact, stop);
    return curve;
}

std::optional<EntropyChoice> chooseByEntropy(const Histogram &histogram, std::size_t levels,
                                             const std::stop_token &stop)
{
    DivergenceCurve curve{levels / 2, {}};
    const std::size_t bins = histogram.counts().size();
    if (histogram.limit() == 0 || bins / 2 < curve.first)
        return std::nullopt;
    const QuickDivergence quick(histogram.counts(), levels);
    ExactDivergence exact(histogram.counts(), levels);
    curve.divergences = quickDivergences(quick, curve.first, bins / 2, stop);
    fillGaps(curve, exact, stop);
    if (stop.stop_requested())
        return std::nullopt;
    const auto least = std::ranges::min_element(curve.divergences);
    if (!std::isfinite(*least))
        return std::nullopt;
    const auto chosen = [&](std::size_t candidate, double divergence, bool isExact) {
        return EntropyChoice{candidate, double{histogram.edge(bins / 2 + candidate + 1)}, divergence,
                             isExact};
    };
    if (bins > kExactBins)
        return chosen(curve.first + static_cast<std::size_t>(least - curve.divergences.begin()), *least,
                      false);
    const std::vector<std::size_t> candidates = finalists(curve, quick, exact, bins, stop);
    const std::vector<float> divergences = exactDivergences(exact, candidates, stop);
    if (stop.stop_requested())
        return std::nullopt;
    const auto smallest = std::ranges::min_element(divergences); // the first of equals, as MXNet takes it
    const float best = smallest == divergences.end() ? std::numeric_limits<float>::infinity() : *smallest;
    if (!std::isfinite(best))
        return std::nullopt;
    return chosen(candidates[static_cast<std::size_t>(smallest - divergences.begin())], double{best}, true);
}

} // namespace halftone::calibration
