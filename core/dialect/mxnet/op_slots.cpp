#include "core/dialect/mxnet/op_slots.h"

#include "core/base/text.h"
#include "core/dialect/mxnet/op_info.h"

#include <algorithm>
#include <cassert>

namespace halftone::dialect::mxnet {
namespace {

using Attributes = std::vector<AttributeSpec>;

/// Takes the text up to `separator` (or all of it) off the front.
std::string_view takeUntil(std::string_view &text, std::string_view separator)
{
    const std::size_t at = text.find(separator);
    const std::string_view head = trimmed(text.substr(0, at));
    text = at == std::string_view::npos ? std::string_view() : text.substr(at + separator.size());
    return head;
}

std::size_t indexOf(std::string_view key, const Attributes &attributes)
{
    const auto at = std::ranges::find(attributes, key, &AttributeSpec::name);
    assert(at != attributes.end()
           && "operators.json: a condition names an attribute that the operator lacks");
    return static_cast<std::size_t>(at - attributes.begin());
}

std::vector<std::string> readValues(std::string_view text)
{
    std::vector<std::string> values;
    while (!text.empty())
        values.emplace_back(takeUntil(text, "|"));
    return values;
}

Condition readCondition(std::string_view text, const Attributes &attributes)
{
    Condition condition;
    const std::size_t sign = text.find_first_of("!>=");
    assert(sign != std::string_view::npos && "operators.json: malformed condition");
    condition.attribute = indexOf(text.substr(0, sign), attributes);
    const char kind = text[sign];
    const std::string_view value = text.substr(kind == '=' ? sign + 1 : sign + 2);
    if (kind == '>') {
        condition.test = Condition::Test::AtLeast;
        condition.bound = parseReal(value).value_or(0);
        return condition;
    }
    condition.test = kind == '=' ? Condition::Test::Equal : Condition::Test::Differs;
    condition.values = readValues(value);
    return condition;
}

Conditions readConditions(std::string_view text, const Attributes &attributes)
{
    Conditions conditions;
    while (!text.empty())
        conditions.push_back(readCondition(takeUntil(text, "&"), attributes));
    return conditions;
}

Slot readSlot(std::string_view text, const Attributes &attributes)
{
    Slot slot;
    std::string_view head = takeUntil(text, "?");
    slot.exists = readConditions(text, attributes);
    slot.isHidden = head.find('~') != std::string_view::npos;
    slot.name = takeUntil(head, "~");
    slot.visible = readConditions(head, attributes);
    return slot;
}

/// The part of a "*counter:…" item before the colon.
void readCounter(std::string_view text, const Attributes &attributes, SlotGroup &group)
{
    const std::size_t sign = text.find_first_of("-/");
    if (sign != std::string_view::npos) {
        const auto number = static_cast<std::size_t>(parseInteger(text.substr(sign + 1)).value_or(1));
        (text[sign] == '-' ? group.minus : group.divide) = number;
        text = text.substr(0, sign);
    }
    while (!text.empty())
        group.counters.push_back(indexOf(takeUntil(text, "|"), attributes));
}

} // namespace

Slots readSlots(std::string_view text, const Attributes &attributes)
{
    Slots slots;
    if (trimmed(text) == "...") {
        slots.isOpen = true;
        return slots;
    }
    // Items of a repetition are joined by a bare comma, groups by a comma and a blank.
    while (!text.empty()) {
        std::string_view item = takeUntil(text, ", ");
        SlotGroup group;
        if (item.starts_with('*')) {
            readCounter(takeUntil(item, ":").substr(1), attributes, group);
            while (!item.empty())
                group.slots.push_back(readSlot(takeUntil(item, ","), attributes));
        } else {
            group.slots.push_back(readSlot(item, attributes));
        }
        slots.groups.push_back(std::move(group));
    }
    return slots;
}

std::vector<TypeVariant> readTypeVariants(std::string_view text, const Attributes &attributes)
{
    std::vector<TypeVariant> variants;
    while (!text.empty()) {
        std::string_view variant = takeUntil(text, ";");
        TypeVariant &read = variants.emplace_back();
        if (variant.find(':') != std::string_view::npos)
            read.when = readConditions(takeUntil(variant, ":"), attributes);
        read.rule = ops::TypeRule::parse(variant);
    }
    return variants;
}

} // namespace halftone::dialect::mxnet
