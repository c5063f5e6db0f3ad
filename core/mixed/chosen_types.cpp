#include "core/mixed/chosen_types.h"

#include "core/dialect/converted_types.h"
#include "core/infer/rule_by_slot.h"

namespace halftone::mixed {

ops::TypeOutcome applyChosen(const graph::Graph &graph, const infer::NodeTypes &rules, graph::NodeId id,
                             std::span<tensor::DType> inputs, std::span<tensor::DType> outputs)
{
    const auto *const narrowed = dynamic_cast<const dialect::ConvertedTypes *>(rules.op(id));
    const ops::TypeRule *const rule = narrowed != nullptr ? narrowed->convertedTypes() : nullptr;
    return rule != nullptr ? infer::applyBySlot(graph.node(id), *rule, inputs, outputs)
                           : rules.apply(id, inputs, outputs);
}

} // namespace halftone::mixed
