#include "core/mixed/read_counts.h"

namespace halftone::mixed {

ReadCounts::ReadCounts(const graph::Graph &source, const TypedPlan &plan, tensor::DType target)
    : m_counts(plan.value.size())
{
    const auto note = [&](const graph::Entry &entry, tensor::DType type) {
        if (rewrite::isCastable(type))
            ++m_counts[plan.output(plan.valueOf(entry))].of(type, target);
    };
    for (const graph::NodeId id : plan.order) {
        const auto inputs = source.inputs(id);
        for (std::size_t i = 0; i < inputs.size(); ++i)
            note(inputs[i], plan.reads[plan.firstInput[id] + i]);
    }
    for (std::size_t k = 0; k < plan.headReads.size(); ++k)
        note(source.heads()[k], plan.headReads[k]);
}

} // namespace halftone::mixed
