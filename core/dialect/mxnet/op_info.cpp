#include "core/dialect/mxnet/op_info.h"

#include "core/base/checked_math.h"
#include "core/base/text.h"
#include "core/dialect/mxnet/attribute_text.h"
#include "core/dialect/mxnet/merging.h"

#include <algorithm>

namespace halftone::dialect::mxnet {
namespace {

constexpr std::string_view kUnnamed = "#"; ///< name of a slot for which MXNet declares none

std::string_view valueOf(const AttributeSpec &spec, const graph::Attributes &attributes)
{
    const std::string *const written = attributes.find(spec.name);
    return written ? std::string_view(*written) : std::string_view(spec.defaultValue);
}

bool holds(const Condition &condition, const OpInfo &op, const graph::Attributes &attributes)
{
    const AttributeSpec &spec = op.attributes[condition.attribute];
    const std::string_view value = valueOf(spec, attributes);
    if (condition.test == Condition::Test::AtLeast) {
        const auto number = parseReal(trimmed(value));
        return number && *number >= condition.bound;
    }
    const bool among = std::ranges::any_of(
        condition.values, [&](const std::string &wanted) { return sameValue(spec, value, wanted); });
    return among == (condition.test == Condition::Test::Equal);
}

bool hold(const Conditions &conditions, const OpInfo &op, const graph::Attributes &attributes)
{
    return std::ranges::all_of(conditions,
                               [&](const Condition &condition) { return holds(condition, op, attributes); });
}

/// An integer's value, or a tuple's number of elements.
std::optional<std::size_t> countIn(const AttributeSpec &spec, std::string_view text)
{
    if (spec.type == AttributeType::Tuple) {
        const auto tuple = readTuple(text);
        return tuple.ok() ? std::optional(tuple.value().size()) : std::nullopt;
    }
    const auto number = parseInteger(trimmed(text));
    return number && *number >= 0 ? std::optional(static_cast<std::size_t>(*number)) : std::nullopt;
}

std::optional<std::size_t> repetitions(const SlotGroup &group, const OpInfo &op,
                                       const graph::Attributes &attributes)
{
    if (group.counters.empty())
        return 1;
    for (const std::size_t counter : group.counters) {
        const AttributeSpec &spec = op.attributes[counter];
        const auto count = countIn(spec, valueOf(spec, attributes));
        if (count && *count >= group.minus && *count > 0)
            return (*count - group.minus) / group.divide;
    }
    return std::nullopt;
}

/// A slot as a node has it.
struct Place
{
    const Slot *slot = nullptr;
    std::size_t number = 0; ///< within its repetition
};

std::size_t presentIn(const SlotGroup &group, const OpInfo &op, const graph::Attributes &attributes)
{
    return static_cast<std::size_t>(std::ranges::count_if(
        group.slots, [&](const Slot &slot) { return hold(slot.exists, op, attributes); }));
}

/// The slot at `position`, or none when there are fewer.
Place placeAt(const Slots &slots, const OpInfo &op, const graph::Attributes &attributes, std::size_t position)
{
    for (const SlotGroup &group : slots.groups) {
        const std::size_t present = presentIn(group, op, attributes);
        const std::size_t repeated = present == 0 ? 0 : repetitions(group, op, attributes).value_or(0);
        if (repeated == 0 || position / present >= repeated) {
            position -= std::min(position, present * repeated);
            continue;
        }
        std::size_t left = position % present;
        for (const Slot &slot : group.slots) {
            if (hold(slot.exists, op, attributes) && left-- == 0)
                return {&slot, position / present};
        }
    }
    return {};
}

bool isVisible(const Slot &slot, const OpInfo &op, const graph::Attributes &attributes)
{
    return !slot.isHidden || (!slot.visible.empty() && hold(slot.visible, op, attributes));
}

std::string nameOf(const Place &place)
{
    std::string name = place.slot->name;
    if (const std::size_t mark = name.find('#'); mark != std::string::npos)
        name.replace(mark, 1, std::to_string(place.number));
    return name;
}

/// Sum over the outputs' groups of what `count` says of one repetition, within 1 and kMaxOutputs.
template <class Count>
std::size_t countOutputs(const OpInfo &op, const graph::Attributes &attributes, const Count &count)
{
    std::size_t total = 0;
    for (const SlotGroup &group : op.outputs.groups) {
        const std::size_t repeated = std::min(repetitions(group, op, attributes).value_or(0), kMaxOutputs);
        total += count(group) * repeated;
    }
    return std::clamp<std::size_t>(total, 1, kMaxOutputs);
}

} // namespace

std::string_view attributeValue(const OpInfo &op, const graph::Attributes &attributes, std::string_view key)
{
    const AttributeSpec *const spec = op.attribute(key);
    return spec ? valueOf(*spec, attributes) : std::string_view();
}

std::optional<std::size_t> inputCount(const OpInfo &op, const graph::Attributes &attributes)
{
    if (op.inputs.isOpen)
        return std::nullopt;
    std::size_t total = 0;
    for (const SlotGroup &group : op.inputs.groups) {
        const std::size_t present = presentIn(group, op, attributes);
        if (present == 0)
            continue;
        const auto repeated = repetitions(group, op, attributes);
        const auto size = repeated ? checkedMultiply(present, *repeated) : std::nullopt;
        const auto sum = size ? checkedAdd(total, *size) : std::nullopt;
        if (!sum)
            return std::nullopt;
        total = *sum;
    }
    return total;
}

std::string inputName(const OpInfo &op, const graph::Attributes &attributes, std::size_t input)
{
    const Place place = placeAt(op.inputs, op, attributes, input);
    return place.slot ? nameOf(place) : "arg" + std::to_string(input);
}

bool isMutableInput(const OpInfo &op, std::size_t input)
{
    // No operator has mutable inputs behind optional ones, so attributes don't matter.
    for (const SlotGroup &group : op.inputs.groups) {
        const std::size_t size = group.slots.size();
        if (input < size || !group.counters.empty())
            return group.slots[input % size].isMutable;
        input -= size;
    }
    return false;
}

bool mayHaveInputs(const OpInfo &op)
{
    return op.inputs.isOpen || !op.inputs.groups.empty();
}

bool hasMutableInputs(const OpInfo &op)
{
    return std::ranges::any_of(op.inputs.groups, [](const SlotGroup &group) {
        return std::ranges::any_of(group.slots, &Slot::isMutable);
    });
}

std::size_t outputCount(const OpInfo &op, const graph::Attributes &attributes)
{
    return countOutputs(op, attributes,
                        [&](const SlotGroup &group) { return presentIn(group, op, attributes); });
}

std::size_t visibleOutputCount(const OpInfo &op, const graph::Attributes &attributes)
{
    return countOutputs(op, attributes, [&](const SlotGroup &group) {
        return static_cast<std::size_t>(std::ranges::count_if(group.slots, [&](const Slot &slot) {
            return hold(slot.exists, op, attributes) && isVisible(slot, op, attributes);
        }));
    });
}

std::string outputName(const OpInfo &op, const graph::Attributes &attributes, std::size_t output)
{
    const Place place = placeAt(op.outputs, op, attributes, output);
    if (place.slot && place.slot->name != kUnnamed)
        return nameOf(place);
    return outputCount(op, attributes) == 1 ? "output" : "output" + std::to_string(output);
}

std::string castSuffix(const OpInfo &op, const graph::Attributes &attributes, std::size_t output)
{
    const Place place = placeAt(op.outputs, op, attributes, output);
    return "_" + (place.slot && place.slot->name != kUnnamed ? nameOf(place) : std::to_string(output));
}

ops::TypeRule typeRule(const OpInfo &op, const graph::Attributes &attributes)
{
    const auto variant = std::ranges::find_if(
        op.types, [&](const TypeVariant &candidate) { return hold(candidate.when, op, attributes); });
    if (variant == op.types.end())
        return ops::TypeRule::parse("?... -> _...");
    if (!op.typeAttribute)
        return variant->rule;
    const std::string_view name = trimmed(valueOf(op.attributes[*op.typeAttribute], attributes));
    return variant->rule.withAttributeType(tensor::dtypeNamed(name).value_or(tensor::DType::Unknown));
}

std::optional<std::size_t> OpInfo::inputCount(const graph::Attributes &attributes) const
{
    return mxnet::inputCount(*this, attributes);
}

bool OpInfo::mayHaveInputs() const
{
    return mxnet::mayHaveInputs(*this);
}

std::string OpInfo::inputName(const graph::Attributes &attributes, std::size_t input) const
{
    return mxnet::inputName(*this, attributes, input);
}

SlotRole OpInfo::slotRole(const graph::Attributes &attributes, std::size_t input) const
{
    const std::string slot = mxnet::inputName(*this, attributes, input);
    if (slot == "gamma")
        return SlotRole::Scale;
    if (slot.ends_with("var"))
        return SlotRole::Variance;
    if (slot == "beta" || slot.ends_with("bias"))
        return SlotRole::Bias;
    if (slot.ends_with("mean"))
        return SlotRole::Mean;
    if (slot == "label")
        return SlotRole::Label;
    return slot.ends_with("weight") ? SlotRole::Weight : SlotRole::Data;
}

bool OpInfo::isMutableInput(std::size_t input) const
{
    return mxnet::isMutableInput(*this, input);
}

bool OpInfo::hasMutableInputs() const
{
    return mxnet::hasMutableInputs(*this);
}

std::size_t OpInfo::outputCount(const graph::Attributes &attributes) const
{
    return mxnet::outputCount(*this, attributes);
}

std::size_t OpInfo::visibleOutputCount(const graph::Attributes &attributes) const
{
    return mxnet::visibleOutputCount(*this, attributes);
}

std::string OpInfo::outputName(const graph::Attributes &attributes, std::size_t output) const
{
    return mxnet::outputName(*this, attributes, output);
}

std::string OpInfo::suffixOf(const graph::Attributes &attributes, std::size_t output) const
{
    return castSuffix(*this, attributes, output);
}

ops::TypeRule OpInfo::typeRule(const graph::Attributes &attributes) const
{
    return mxnet::typeRule(*this, attributes);
}

bool OpInfo::mayMerge() const
{
    return mxnet::mayMerge(name);
}

} // namespace halftone::dialect::mxnet
