#include "core/calibration/entropy.h"

#include "core/calibration/exact_divergence.h"
#include "core/calibration/quick_divergence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace halftone::calibration {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

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

DivergenceCurve divergenceCurve(const Histogram &histogram, std::size_t levels, const std::stop_token &stop)
{
    DivergenceCurve curve{levels / 2, {}};
    const std::size_t last = histogram.bins() / 2;
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
    const std::size_t bins = histogram.bins();
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
