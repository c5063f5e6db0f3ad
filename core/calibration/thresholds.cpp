#include "core/calibration/thresholds.h"

#include "core/calibration/entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace halftone::calibration {
namespace {

constexpr int kMseSteps = 256;

void addNote(std::string &note, std::string_view more)
{
    note += (note.empty() ? "" : "; ") + std::string(more);
}

/// Both sides of a histogram together: counts of |x| in bins of one width, the first of half that and without the zeros.
class Folded
{
public:
    explicit Folded(const TensorStatistics &statistics)
        : m_zeros(static_cast<double>(statistics.zeros))
        , m_width(statistics.histogram.limit() > 0 ? statistics.histogram.binWidth() : 0)
    {
        const auto counts = statistics.histogram.counts();
        if (counts.empty())
            return;
        const std::size_t middle = counts.size() / 2;
        m_counts.resize(middle + 1);
        m_counts[0] = std::max(0.0, static_cast<double>(counts[middle]) - m_zeros);
        for (std::size_t k = 1; k <= middle; ++k)
            m_counts[k] = static_cast<double>(counts[middle - k]) + static_cast<double>(counts[middle + k]);
    }

    std::size_t size() const { return m_counts.size(); }
    double width() const { return m_width; }
    double zeros() const { return m_zeros; }
    double count(std::size_t k) const { return m_counts[k]; }
    double lower(std::size_t k) const { return k == 0 ? 0 : (static_cast<double>(k) - 0.5) * m_width; }
    double upper(std::size_t k) const { return (static_cast<double>(k) + 0.5) * m_width; }

    double total() const
    {
        double sum = m_zeros;
        for (const double count : m_counts)
            sum += count;
        return sum;
    }

    /// Of squares, values lying evenly in their bins.
    double signal() const
    {
        double sum = 0;
        for (std::size_t k = 0; k < size(); ++k) {
            if (m_counts[k] > 0)
                sum += m_counts[k] * (cube(upper(k)) - cube(lower(k))) / (3 * (upper(k) - lower(k)));
        }
        return sum;
    }

    /// Of squares of what codes of that step, up to `threshold`, lose.
    double noise(double threshold, double step) const
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

private:
    static double cube(double x) { return x * x * x; }

    /// Integral from 0 to x of the squared distance from the nearest multiple of `step`.
    static double rounding(double x, double step)
    {
        const double steps = std::floor(x / step + 0.5);
        return steps * cube(step) / 12 + cube(x - steps * step) / 3;
    }

    std::vector<double> m_counts;
    double m_zeros;
    double m_width;
};

double levelsOf(CodeRange range)
{
    return range == CodeRange::Symmetric ? 127 : 255;
}

std::optional<double> decibels(double signal, double noise)
{
    if (!(signal > 0))
        return std::nullopt;
    return noise > 0 ? 10 * std::log10(signal / noise) : std::numeric_limits<double>::infinity();
}

std::string noteOn(const TensorStatistics &statistics)
{
    std::string note;
    const std::uint64_t infinite = statistics.positiveInfinite + statistics.negativeInfinite;
    if (statistics.nan + infinite > 0)
        note = std::to_string(statistics.nan) + " NaN and " + std::to_string(infinite)
            + " infinite values left out";
    if (statistics.absMax == 0)
        addNote(note, statistics.finite() > 0 ? "all values are zero" : "no finite value");
    if (statistics.histogram.beganWithZeros())
        addNote(note, "the first batch is all zeros: the histogram begins with the first that is not");
    if (statistics.histogram.isCoarsened())
        addNote(note, "the range grew so much that bins of the histogram were merged");
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
                "minmax, since entropy needs " + std::to_string(levels / 4) + " values other than zero");
        return;
    }
    if (values < levels / 2)
        addNote(threshold.note,
                "chosen from as few as " + std::to_string(values) + " values other than zero");
    const auto choice = chooseByEntropy(statistics.histogram, levels, stop);
    if (!choice) {
        addNote(threshold.note, "minmax, since no divergence is finite");
        threshold.divergence = double{std::numeric_limits<float>::max()}; // as MXNet says it
        return;
    }
    threshold.method = ThresholdMethod::Entropy;
    threshold.value = choice->threshold;
    threshold.divergence = choice->divergence;
    if (!choice->isExact)
        addNote(threshold.note, "so many bins that MXNet's float32 sums were not repeated");
}

/// The percentile lies in the bin that the rank falls into.
void takePercentile(Threshold &threshold, const Folded &folded, double percentile)
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
    addNote(threshold.note, "minmax, since the percentile is zero");
}

} // namespace

CodeRange codeRangeOf(const TensorStatistics &statistics, CodeType codes)
{
    return codes != CodeType::Int8 && statistics.min >= 0 ? CodeRange::OneSided : CodeRange::Symmetric;
}

std::optional<double> sqnrFromHistogram(const TensorStatistics &statistics, double threshold, CodeRange range)
{
    const Folded folded(statistics);
    if (!(threshold > 0))
        return std::nullopt;
    return decibels(folded.signal(), folded.noise(threshold, threshold / levelsOf(range)));
}

double clippedShare(const TensorStatistics &statistics, double threshold)
{
    const Folded folded(statistics);
    double clipped = 0;
    for (std::size_t k = 0; k < folded.size(); ++k) {
        const double beyond = folded.upper(k) - std::max(folded.lower(k), threshold);
        if (beyond > 0)
            clipped += folded.count(k) * beyond / (folded.upper(k) - folded.lower(k));
    }
    const double total = folded.total();
    return total > 0 && threshold < statistics.absMax ? clipped / total : 0;
}

Threshold chooseThreshold(const TensorStatistics &statistics, const ThresholdOptions &options,
                          const std::stop_token &stop)
{
    Threshold threshold = minMax(statistics, options);
    if (statistics.absMax == 0)
        return threshold;
    const Folded folded(statistics);
    const double levels = levelsOf(threshold.range);
    const double signal = folded.signal();
    threshold.sqnrDbMinMax = decibels(signal, folded.noise(threshold.value, threshold.value / levels));
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
    threshold.sqnrDb = decibels(signal, folded.noise(threshold.value, threshold.value / levels));
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
