#include "core/calibration/thresholds.h"

#include "core/calibration/entropy.h"
#include "core/calibration/folded_histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace halftone::calibration {
namespace {

void addNote(std::string &note, std::string_view more)
{
    note += (note.empty() ? "" : "; ") + std::string(more);
}

std::string noteOn(const TensorStatistics &statistics)
{
    std::string note;
    const std::uint64_t infinite = statistics.positiveInfinite + statistics.negativeInfinite;
    if (statistics.nan + infinite > 0)
        note = std::to_string(statistics.nan) + " NaN and " + std::to_string(infinite)
            + " infinite values ignored";
    if (statistics.absMax == 0)
        addNote(note, statistics.finite() > 0 ? "all values are zero" : "no finite value");
    if (statistics.histogram.beganWithZeros())
        addNote(note, "the first batch is all zeros; the histogram starts with the first other batch");
    if (statistics.histogram.isCoarsened())
        addNote(note, "histogram bins were merged because the range grew");
    return note;
}

/// What no method can improve on, filled in as far as the statistics go.
Threshold minMax(const TensorStatistics &statistics, const ThresholdOptions &options)
{
    Threshold threshold;
    threshold.value = statistics.absMax;
    threshold.range = codeRangeOf(statistics, options.codes);
    threshold.keepsEnds = options.method == ThresholdMethod::MinMax;
    threshold.note = noteOn(statistics);
    return threshold;
}

void takeEntropy(Threshold &threshold, const TensorStatistics &statistics, const ThresholdOptions &options,
                 const std::stop_token &stop)
{
    const std::size_t levels
        = statistics.min >= 0 && options.codes != CodeType::Int8 ? kUnsignedLevels : kSignedLevels;
    const std::uint64_t values = statistics.finite() - statistics.zeros;
    if (values < levels / 4) {
        addNote(threshold.note,
                "minmax, because entropy needs " + std::to_string(levels / 4) + " nonzero values");
        return;
    }
    if (values < levels / 2)
        addNote(threshold.note, "based on only " + std::to_string(values) + " nonzero values");
    const auto choice = chooseByEntropy(statistics.histogram, levels, stop);
    if (!choice) {
        addNote(threshold.note, "minmax, because no divergence is finite");
        threshold.divergence = double{std::numeric_limits<float>::max()}; // as MXNet says it
        return;
    }
    threshold.method = ThresholdMethod::Entropy;
    threshold.value = choice->threshold;
    threshold.divergence = choice->divergence;
    if (!choice->isExact)
        addNote(threshold.note, "too many bins to reproduce MXNet's float32 sums");
}

/// The percentile lies in the bin that the rank falls into.
void takePercentile(Threshold &threshold, const FoldedHistogram &folded, double percentile)
{
    const double rank = percentile / 100 * (folded.total() - 1) + 1;
    double seen = folded.zeros();
    threshold.method = ThresholdMethod::Percentile;
    if (rank <= seen) {
        threshold.value = 0;
        return;
    }
    for (std::size_t k = 0; k < folded.size(); ++k) {
        if (seen + folded.count(k) >= rank) {
            const double share = (rank - seen) / folded.count(k);
            threshold.value
                = std::min(threshold.value, folded.lower(k) + share * (folded.upper(k) - folded.lower(k)));
            threshold.errorBound = folded.upper(k) - folded.lower(k);
            return;
        }
        seen += folded.count(k);
    }
}

/// noise(t): of codes with the threshold t
template <class Noise>
double leastSquares(double absMax, const std::stop_token &stop, Noise &&noise)
{
    double best = std::numeric_limits<double>::infinity();
    double value = absMax;
    for (int step = 1; step <= kMseSteps && !stop.stop_requested(); ++step) {
        const double candidate = absMax * step / kMseSteps;
        if (const double lost = noise(candidate); lost < best) {
            best = lost;
            value = candidate;
        }
    }
    return value;
}

/// A threshold of zero would clip everything.
void refuseZero(Threshold &threshold, double absMax)
{
    if (threshold.value > 0 || absMax == 0)
        return;
    threshold.value = absMax;
    threshold.method = ThresholdMethod::MinMax;
    threshold.errorBound = 0;
    addNote(threshold.note, "minmax, because the percentile is zero");
}

} // namespace

CodeRange codeRangeOf(const TensorStatistics &statistics, CodeType codes)
{
    return codes != CodeType::Int8 && statistics.min >= 0 ? CodeRange::OneSided : CodeRange::Symmetric;
}

std::optional<double> sqnrFromHistogram(const TensorStatistics &statistics, double threshold, CodeRange range)
{
    return FoldedHistogram(statistics).sqnrDb(threshold, range);
}

double clippedShare(const TensorStatistics &statistics, double threshold)
{
    return FoldedHistogram(statistics).clippedShare(threshold);
}

Threshold chooseThreshold(const TensorStatistics &statistics, const ThresholdOptions &options,
                          const std::stop_token &stop)
{
    Threshold threshold = minMax(statistics, options);
    if (statistics.absMax == 0)
        return threshold;
    const FoldedHistogram folded(statistics);
    const double levels = levelsOf(threshold.range);
    threshold.sqnrDbMinMax = folded.sqnrDb(threshold.value, threshold.range);
    switch (options.method) {
    case ThresholdMethod::MinMax:
        break;
    case ThresholdMethod::Entropy:
        takeEntropy(threshold, statistics, options, stop);
        break;
    case ThresholdMethod::Percentile:
        takePercentile(threshold, folded, options.percentile);
        refuseZero(threshold, statistics.absMax);
        break;
    case ThresholdMethod::Mse:
        threshold.method = ThresholdMethod::Mse;
        threshold.value
            = leastSquares(statistics.absMax, stop, [&](double t) { return folded.noise(t, t / levels); });
        threshold.errorBound = folded.width();
        break;
    }
    threshold.sqnrDb = folded.sqnrDb(threshold.value, threshold.range);
    return threshold;
}

Threshold chooseThreshold(const TensorStatistics &statistics, std::span<const float> values,
                          const ThresholdOptions &options, const std::stop_token &stop)
{
    Threshold threshold = minMax(statistics, options);
    if (statistics.absMax == 0)
        return threshold;
    const auto sqnr = [&](double t) {
        Int8Error error(t, threshold.range);
        error.add(values);
        return error;
    };
    threshold.sqnrDbMinMax = sqnr(threshold.value).sqnrDb();
    switch (options.method) {
    case ThresholdMethod::MinMax:
        break;
    case ThresholdMethod::Entropy:
        takeEntropy(threshold, statistics, options, stop);
        break;
    case ThresholdMethod::Percentile: {
        std::vector<float> magnitudes;
        magnitudes.reserve(values.size());
        for (const float value : values) {
            if (std::isfinite(value))
                magnitudes.push_back(std::abs(value));
        }
        const double place = options.percentile / 100 * static_cast<double>(magnitudes.size() - 1);
        const auto below = static_cast<std::ptrdiff_t>(std::floor(place));
        std::ranges::nth_element(magnitudes, magnitudes.begin() + below);
        const double low = magnitudes[static_cast<std::size_t>(below)];
        const auto next = std::min_element(magnitudes.begin() + below + 1, magnitudes.end());
        const double high = next == magnitudes.end() ? low : double{*next};
        threshold.method = ThresholdMethod::Percentile;
        threshold.value = low + (place - static_cast<double>(below)) * (high - low);
        refuseZero(threshold, statistics.absMax);
        break;
    }
    case ThresholdMethod::Mse:
        threshold.method = ThresholdMethod::Mse;
        threshold.value = leastSquares(statistics.absMax, stop, [&](double t) { return sqnr(t).noise(); });
        break;
    }
    threshold.sqnrDb = sqnr(threshold.value).sqnrDb();
    return threshold;
}

} // namespace halftone::calibration
