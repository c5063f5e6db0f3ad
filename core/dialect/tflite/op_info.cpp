#include "core/dialect/tflite/op_info.h"

#include "core/dialect/tflite/tflite_dialect.h"

#include <algorithm>
#include <array>

namespace halftone::dialect::tflite {
namespace {

/// "a,b".
std::vector<std::string_view> partsOf(std::string_view text)
{
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        parts.push_back(text.substr(0, comma));
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return parts;
}

} // namespace

std::string OpInfo::inputName(const graph::Attributes &, std::size_t input) const
{
    if (input < inputs.size())
        return inputs[input].name;
    return input == 0 ? "input" : "input" + std::to_string(input);
}

SlotRole OpInfo::slotRole(const graph::Attributes &attributes, std::size_t input) const
{
    static constexpr std::array<std::string_view, 5> kWeights{"filter", "weights", "alpha", "feature_weights",
                                                              "time_weights"};
    const std::string slot = inputName(attributes, input);
    if (slot.ends_with("bias"))
        return SlotRole::Bias;
    return std::ranges::find(kWeights, slot) != kWeights.end() ? SlotRole::Weight : SlotRole::Data;
}

std::size_t OpInfo::outputCount(const graph::Attributes &attributes) const
{
    const std::string *const types = attributes.find(kTypesKey);
    return types == nullptr ? 1 : static_cast<std::size_t>(std::ranges::count(*types, ',')) + 1;
}

std::size_t OpInfo::visibleOutputCount(const graph::Attributes &attributes) const
{
    return outputCount(attributes);
}

std::string OpInfo::outputName(const graph::Attributes &attributes, std::size_t output) const
{
    return outputCount(attributes) == 1 ? "output" : "output" + std::to_string(output);
}

std::string OpInfo::suffixOf(const graph::Attributes &attributes, std::size_t output) const
{
    return '_' + outputName(attributes, output);
}

/// What is float32 in the file may be another float, and is one type then; other types stay. A rule has few places: of many inputs or
/// outputs all have one type, or nothing is said of them.
ops::TypeRule OpInfo::typeRule(const graph::Attributes &attributes) const
{
    static const auto kOpen = ops::TypeRule::parse("?... -> ?...");
    constexpr std::string_view kFloat = "float32";
    constexpr std::size_t kMostPlaces = 12;
    const std::string *const types = attributes.find(kTypesKey);
    const std::string *const inputTypes = attributes.find(kInputTypesKey);
    if (types == nullptr)
        return kOpen;
    const std::vector<std::string_view> ins
        = partsOf(inputTypes == nullptr ? std::string_view() : *inputTypes);
    const std::vector<std::string_view> outs = partsOf(*types);
    const bool hasFloat = std::ranges::find(ins, kFloat) != ins.end();
    const auto place = [&](std::string_view type) { return hasFloat && type == kFloat ? "T" : type; };
    const auto isAll = [](const std::vector<std::string_view> &list, std::string_view type) {
        return std::ranges::count(list, type) == std::ssize(list);
    };
    std::string rule;
    if (ins.size() + outs.size() <= kMostPlaces) {
        for (const std::string_view type : ins)
            rule.append(rule.empty() ? "" : ", ").append(type == kFloat ? "T" : "?");
        rule += ins.empty() ? "?... -> " : " -> ";
        for (std::size_t k = 0; k < outs.size(); ++k)
            rule.append(k > 0 ? ", " : "").append(place(outs[k]));
        return ops::TypeRule::parse(rule);
    }
    if (!isAll(outs, outs[0]) || (hasFloat && !isAll(ins, kFloat)))
        return kOpen;
    rule = hasFloat ? "T... -> " : "?... -> ";
    return ops::TypeRule::parse(rule.append(place(outs[0])).append("..."));
}

bool OpInfo::mayMerge() const
{
    static constexpr std::array<std::string_view, 6> kOwn{"RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL",
                                                          "MULTINOMIAL",    "ASSIGN_VARIABLE",
                                                          "VAR_HANDLE",     "CALL_ONCE"};
    return std::ranges::find(kOwn, name) == kOwn.end();
}

} // namespace halftone::dialect::tflite
