#include "core/dialect/tflite/op_info.h"

#include "core/dialect/tflite/tflite_dialect.h"

#include <algorithm>
#include <array>

namespace halftone::dialect::tflite {

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

/// A rule has few places: of many outputs all have the first one's type, or nothing is said.
ops::TypeRule OpInfo::typeRule(const graph::Attributes &attributes) const
{
    constexpr std::ptrdiff_t kMostTypes = 8;
    static const auto kOpen = ops::TypeRule::parse("?... -> ?...");
    const std::string *const types = attributes.find(kTypesKey);
    if (types == nullptr)
        return kOpen;
    const std::string first = types->substr(0, types->find(','));
    const auto count = std::ranges::count(*types, ',') + 1;
    std::string all = first;
    for (std::ptrdiff_t k = 1; k < count; ++k)
        all += ',' + first;
    if (all == *types)
        return ops::TypeRule::parse("?... -> " + first + "...");
    return count > kMostTypes ? kOpen : ops::TypeRule::parse("?... -> " + *types);
}

bool OpInfo::mayMerge() const
{
    static constexpr std::array<std::string_view, 6> kOwn{"RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL",
                                                          "MULTINOMIAL",    "ASSIGN_VARIABLE",
                                                          "VAR_HANDLE",     "CALL_ONCE"};
    return std::ranges::find(kOwn, name) == kOwn.end();
}

} // namespace halftone::dialect::tflite
