#include "core/infer/rule_by_slot.h"

#include <algorithm>
#include <vector>

namespace halftone::infer {

using ops::TypeOutcome;
using tensor::DType;

namespace {

bool hasAllSlots(const graph::NodeDef &node)
{
    return node.slots.empty() || node.slots.back() + 1 == node.slots.size();
}

} // namespace

TypeOutcome applyBySlot(const graph::NodeDef &node, const ops::TypeRule &rule, std::span<DType> inputs,
                        std::span<DType> outputs, std::size_t *where)
{
    if (hasAllSlots(node))
        return rule.apply(inputs, outputs, where);
    std::size_t slots = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        slots = std::max(slots, node.slotOf(i) + 1);
    std::vector<DType> bySlot(slots, DType::Unknown);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        bySlot[node.slotOf(i)] = inputs[i];
    std::size_t place = 0;
    const TypeOutcome outcome = rule.apply(bySlot, outputs, &place);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        inputs[i] = bySlot[node.slotOf(i)];
        if (where != nullptr && place == node.slotOf(i))
            *where = i;
    }
    if (where != nullptr && place >= slots)
        *where = inputs.size() + (place - slots);
    return outcome;
}

} // namespace halftone::infer
