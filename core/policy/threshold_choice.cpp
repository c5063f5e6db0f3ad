#include "core/policy/threshold_choice.h"

#include <algorithm>
#include <array>
#include <utility>

namespace halftone::policy {
namespace {

using NamedMethod = std::pair<ThresholdMethod, std::string_view>;
constexpr std::array<NamedMethod, 4> kNames{{{ThresholdMethod::MinMax, "minmax"},
                                             {ThresholdMethod::Entropy, "entropy"},
                                             {ThresholdMethod::Percentile, "percentile"},
                                             {ThresholdMethod::Mse, "mse"}}};

} // namespace

std::string_view nameOf(ThresholdMethod method)
{
    return std::ranges::find(kNames, method, &NamedMethod::first)->second;
}

std::optional<ThresholdMethod> thresholdMethodNamed(std::string_view name)
{
    const auto *const found = std::ranges::find(kNames, name, &NamedMethod::second);
    return found == kNames.end() ? std::nullopt : std::optional(found->first);
}

} // namespace halftone::policy
