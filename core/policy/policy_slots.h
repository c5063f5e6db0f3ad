#pragma once

#include "core/policy/policy_fields.h"

#include <cstdint>
#include <string_view>

/// The grammar of policy files, for their reader.
namespace halftone::policy {

/// The places of a policy file that hold a value.
enum class Slot : std::uint8_t
{
    Root,
    Word,
    Flag,
    Names,
    Name,
    Conditions,
    Condition,
    ConditionOp,
    ConditionAttribute,
    ConditionValues,
    ConditionValue,
    Types,
    Type,
    Reasons,
    Reason,
    Moves,
    Move,
    MoveOp,
    MoveList,
    Thresholds,
    Threshold,
    WeightRules,
    WeightRule,
    WeightTarget,
    WeightFormat,
    Surplus, ///< behind the last element of a condition, a move or a rule for weights
};

/// What kind of JSON value a slot takes.
enum class Form : std::uint8_t
{
    Text,
    Flag,
    List,
    Object,
    Threshold, ///< a text or a number
    Nothing
};

struct SlotFacts
{
    Form form;
    std::string_view expected; ///< for errors; empty for Word, whose field knows
};

const SlotFacts &factsOf(Slot slot);

/// The slot of the field's value.
Slot slotOf(const PolicyField &field);
/// The slot of element `index` of a list in slot `outer`, or of a member of an object there.
Slot slotWithin(Slot outer, std::size_t index);

} // namespace halftone::policy
