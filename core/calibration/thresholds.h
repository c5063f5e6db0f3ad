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

/// Types of int8 codes.
enum class CodeType
{
    Int8,
    Uint8,
    Auto ///< uint8 for tensors without negative values
};

struct ThresholdOptions
{
    ThresholdMethod method = ThresholdMethod::MinMax;
    CodeType codes = CodeType::Int8;
    double percentile = 99.99;
};

/// A threshold and its error.
struct Threshold
{
    ThresholdMethod method = ThresholdMethod::MinMax; ///< the method used: MinMax after a fallback
    double value = 0;
    CodeRange range = CodeRange::Symmetric;
    bool keepsEnds = true; ///< requested as minmax: the range is that of the values, not -t..t or 0..t
    std::optional<double> divergence; ///< for entropy; the largest float if none was finite
    std::optional<double> sqnrDb; ///< with this threshold; absent if all values are zero
    std::optional<double> sqnrDbMinMax; ///< if nothing is clipped
    /// Largest distance of `value` from the exact threshold, due to the histogram; 0: exact.
    double errorBound = 0;
    std::string note; ///< remark for the user; may be empty
};

/// 0..t if the type and the values allow it.
CodeRange codeRangeOf(const TensorStatistics &statistics, CodeType codes);

/// The threshold of a tensor by its statistics: percentile, mse and SQNR are computed from the histogram, assuming evenly
/// distributed values in each bin.
Threshold chooseThreshold(const TensorStatistics &statistics, const ThresholdOptions &options,
                          const std::stop_token &stop = {});

/// The same from the values: exact, except entropy, which is defined on a histogram.
Threshold chooseThreshold(const TensorStatistics &statistics, std::span<const float> values,
                          const ThresholdOptions &options, const std::stop_token &stop = {});

/// SQNR in dB of int8 with a given threshold, from the histogram; see chooseThreshold().
std::optional<double> sqnrFromHistogram(const TensorStatistics &statistics, double threshold,
                                        CodeRange range);

/// Share of the finite values that a threshold clips, from the histogram.
double clippedShare(const TensorStatistics &statistics, double threshold);

} // namespace halftone::calibration
