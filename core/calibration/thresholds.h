#pragma once

#include "core/calibration/collector.h"
#include "core/calibration/int8_error.h"
#include "core/policy/threshold_choice.h"

#include <optional>
#include <span>
#include <stop_token>
#include <string>

namespace halftone::calibration {

using policy::nameOf;
using policy::ThresholdMethod;
using policy::thresholdMethodNamed;

/// Thresholds that mse tries: the largest |x| times k / kMseSteps.
inline constexpr int kMseSteps = 256;

/// Types of int8 codes that a range may be meant for.
enum class CodeType
{
    Int8,
    Uint8,
    Auto ///< uint8 where no value is negative
};

struct ThresholdOptions
{
    ThresholdMethod method = ThresholdMethod::MinMax;
    CodeType codes = CodeType::Int8;
    double percentile = 99.99;
};

/// A threshold and what it costs.
struct Threshold
{
    ThresholdMethod method = ThresholdMethod::MinMax; ///< that gave it: MinMax after a fall-back
    double value = 0;
    CodeRange range = CodeRange::Symmetric;
    bool keepsEnds
        = true; ///< asked for as minmax: the range of codes is that of the values, not -t..t or 0..t
    std::optional<double> divergence; ///< of entropy; the largest float where none was finite
    std::optional<double> sqnrDb; ///< of codes with this threshold; nothing for zeros
    std::optional<double> sqnrDbMinMax; ///< of codes that clip nothing
    /// `value` is within this of what the values themselves would have given; 0 where it is that.
    double errorBound = 0;
    std::string note; ///< what a person should know; may be empty
};

/// 0..t where the type and the values allow it.
CodeRange codeRangeOf(const TensorStatistics &statistics, CodeType codes);

/// The threshold of a tensor of which only the statistics are left: percentile, mse and SQNR come from the histogram, in
/// whose bins values are taken to lie evenly.
Threshold chooseThreshold(const TensorStatistics &statistics, const ThresholdOptions &options,
                          const std::stop_token &stop = {});

/// The same with the values at hand: everything but entropy, which is a method of the histogram, is exact.
Threshold chooseThreshold(const TensorStatistics &statistics, std::span<const float> values,
                          const ThresholdOptions &options, const std::stop_token &stop = {});

/// SQNR in dB of a tensor in codes of a threshold, from its histogram; see chooseThreshold().
std::optional<double> sqnrFromHistogram(const TensorStatistics &statistics, double threshold,
                                        CodeRange range);

/// Share of the finite values that a threshold clips, from the histogram.
double clippedShare(const TensorStatistics &statistics, double threshold);

} // namespace halftone::calibration
