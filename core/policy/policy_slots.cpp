#include "core/policy/policy_slots.h"

#include <array>

namespace halftone::policy {
namespace {

/// By Slot.
constexpr std::array kSlots{
    SlotFacts{Form::Object, "an object with the keys of a policy"},
    SlotFacts{Form::Text, {}},
    SlotFacts{Form::Flag, "true or false"},
    SlotFacts{Form::List, "a list of strings"},
    SlotFacts{Form::Text, "a string"},
    SlotFacts{Form::List, "a list of [operator, attribute, [values]]"},
    SlotFacts{Form::List, "[operator, attribute, [values]]"},
    SlotFacts{Form::Text, "an operator's name"},
    SlotFacts{Form::Text, "an attribute's name"},
    SlotFacts{Form::List, "a list of strings"},
    SlotFacts{Form::Text, "a string"},
    SlotFacts{Form::Object, "an object of {name: type}"},
    SlotFacts{Form::Text, "an element type, such as float16 or int32"},
    SlotFacts{Form::Object, "an object of {name: text}"},
    SlotFacts{Form::Text, "a string"},
    SlotFacts{Form::List, "a list of [operator, list]"},
    SlotFacts{Form::List, "[operator, list]"},
    SlotFacts{Form::Text, "an operator's name"},
    SlotFacts{Form::Text, "target_dtype_ops, fp32_ops, widest_dtype_ops or fp16_fp32_ops"},
    SlotFacts{Form::Object, "an object of {tensor: threshold}"},
    SlotFacts{Form::Threshold, "a number above 0, or one of minmax, entropy, percentile, mse"},
    SlotFacts{Form::List, "a list of [operator, node or /pattern/, format]"},
    SlotFacts{Form::List, "[operator, node or /pattern/, format]"},
    SlotFacts{Form::Text, "an operator, a node or a /pattern/"},
    SlotFacts{Form::Text, "a format of weights, such as uint4/32, or none"},
    SlotFacts{Form::Nothing, "the end of the list"},
};

} // namespace

const SlotFacts &factsOf(Slot slot)
{
    return kSlots[static_cast<std::size_t>(slot)];
}

Slot slotOf(const PolicyField &field)
{
    struct Visitor
    {
        Slot operator()(const PolicyField::Word &) const { return Slot::Word; }
        Slot operator()(PolicyField::Flag) const { return Slot::Flag; }
        Slot operator()(PolicyField::Names) const { return Slot::Names; }
        Slot operator()(PolicyField::PlainNames) const { return Slot::Names; }
        Slot operator()(PolicyField::Conditions) const { return Slot::Conditions; }
        Slot operator()(PolicyField::PlainConditions) const { return Slot::Conditions; }
        Slot operator()(PolicyField::Types) const { return Slot::Types; }
        Slot operator()(PolicyField::Texts) const { return Slot::Reasons; }
        Slot operator()(PolicyField::Moves) const { return Slot::Moves; }
        Slot operator()(PolicyField::Thresholds) const { return Slot::Thresholds; }
        Slot operator()(PolicyField::Weights) const { return Slot::WeightRules; }
    };
    return std::visit(Visitor(), field.member);
}

Slot slotWithin(Slot outer, std::size_t index)
{
    switch (outer) {
    case Slot::Names:
        return Slot::Name;
    case Slot::Conditions:
        return Slot::Condition;
    case Slot::Condition:
        return index == 0 ? Slot::ConditionOp
            : index == 1  ? Slot::ConditionAttribute
            : index == 2  ? Slot::ConditionValues
                          : Slot::Surplus;
    case Slot::ConditionValues:
        return Slot::ConditionValue;
    case Slot::Types:
        return Slot::Type;
    case Slot::Reasons:
        return Slot::Reason;
    case Slot::Thresholds:
        return Slot::Threshold;
    case Slot::Moves:
        return Slot::Move;
    case Slot::Move:
        return index == 0 ? Slot::MoveOp : index == 1 ? Slot::MoveList : Slot::Surplus;
    case Slot::WeightRules:
        return Slot::WeightRule;
    case Slot::WeightRule:
        return index == 0 ? Slot::WeightTarget : index == 1 ? Slot::WeightFormat : Slot::Surplus;
    default:
        return Slot::Surplus;
    }
}

} // namespace halftone::policy
