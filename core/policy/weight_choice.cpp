#include "core/policy/weight_choice.h"

#include "core/policy/wording.h"

#include <algorithm>

namespace halftone::policy {
namespace {

template <class Values>
auto named(const Values &values, std::string_view name) -> std::optional<typename Values::value_type>
{
    const auto *const found
        = std::ranges::find_if(values, [name](auto value) { return nameOf(value) == name; });
    return found == values.end() ? std::nullopt : std::optional(*found);
}

/// A format with the same codes, where there is one.
std::string nearestFormat(std::string_view text)
{
    using tensor::WeightFormat;
    const std::string_view name = text.substr(0, text.find('/'));
    for (const std::string_view block : {"", "/32", "/channel"})
        if (const auto format = tensor::weightFormatNamed(std::string(name).append(block)))
            return "; " + nameOf(*format) + " works";
    return {};
}

} // namespace

std::string_view nameOf(WeightMethod method)
{
    constexpr std::array<std::string_view, 3> kNames{"rtn", "mse", "gptq"};
    return kNames[static_cast<std::size_t>(method)];
}

std::string_view nameOf(WeightForm form)
{
    return form == WeightForm::Pairs ? "qdq" : "nbits";
}

std::optional<WeightMethod> weightMethodNamed(std::string_view name)
{
    return named(kWeightMethods, name);
}

std::optional<WeightForm> weightFormNamed(std::string_view name)
{
    return named(kWeightForms, name);
}

std::string formatText(const WeightRule &rule)
{
    return rule.format ? tensor::nameOf(*rule.format) : std::string(kUnchangedWeights);
}

Result<std::optional<tensor::WeightFormat>> weightFormatIn(std::string_view text)
{
    if (text == kUnchangedWeights)
        return std::optional<tensor::WeightFormat>();
    if (const auto format = tensor::weightFormatNamed(text))
        return std::optional(*format);
    return badInput("weights", inQuotes(text),
                    std::string(tensor::kWeightFormats) + ", or none" + nearestFormat(text));
}

Result<WeightRule> weightRuleIn(std::string_view text)
{
    const std::size_t sign = text.rfind('=');
    WeightRule rule;
    if (sign != std::string_view::npos) {
        rule.target = text.substr(0, sign);
        text.remove_prefix(sign + 1);
    }
    HALFTONE_TRY(rule.format, weightFormatIn(text));
    return rule;
}

} // namespace halftone::policy
