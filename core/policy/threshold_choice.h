#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace halftone::policy {

/// How the largest value that int8 codes stand for is chosen (core/quantize/RULES.md, Q-methods).
enum class ThresholdMethod : std::uint8_t
{
    MinMax, ///< the largest |x|: nothing is clipped
    Entropy, ///< least Kullback–Leibler divergence, as MXNet 1.9.1 finds it
    Percentile, ///< of |x|
    Mse, ///< least square error of 256 thresholds, equal parts of the largest |x|
};

std::string_view nameOf(ThresholdMethod method); ///< "minmax", "entropy", "percentile", "mse"
std::optional<ThresholdMethod> thresholdMethodNamed(std::string_view name);
inline constexpr std::string_view kThresholdMethods = "minmax, entropy, percentile or mse"; ///< for errors
/// What holds where a policy names no method: never worse than minmax.
inline constexpr ThresholdMethod kDefaultThresholdMethod = ThresholdMethod::Mse;

/// How the int8 codes of one tensor are scaled, in place of the policy's method.
struct ThresholdChoice
{
    ThresholdMethod method = kDefaultThresholdMethod;
    std::optional<double> value; ///< set by hand, above 0 and finite: the method is not asked

    bool operator==(const ThresholdChoice &) const = default;
};

} // namespace halftone::policy
