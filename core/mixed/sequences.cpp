#include "core/mixed/sequences.h"

#include "core/dialect/dialect.h"
#include "core/infer/lists.h"

namespace halftone::mixed {

using graph::NodeId;
using tensor::DType;

namespace {

/// Few graphs have an operator that reads or gives lists, or one whose bodies may.
bool mayHaveLists(const graph::Graph &source)
{
    std::vector<bool> isSeen(source.operatorNames().size(), false);
    for (NodeId id = 0; id < source.nodeCount(); ++id) {
        if (source.isVariable(id) || isSeen[source.opOf(id)])
            continue;
        isSeen[source.opOf(id)] = true;
        const auto op = dialect::of(source).readKind(source.node(id));
        if (op.ok() && (op.value().is<ops::TensorList>() || op.value().is<ops::ControlFlow>()))
            return true;
    }
    return false;
}

} // namespace

bool castsSequence(const graph::Graph &source, const TypedPlan &plan)
{
    if (!mayHaveLists(source))
        return false;
    const auto isCast = [&plan](const graph::Entry &entry, DType read) {
        const DType native = plan.nativeOf(entry);
        return read != DType::Unknown && native != DType::Unknown && read != native;
    };
    for (const NodeId id : plan.order) {
        const auto inputs = source.inputs(id);
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (isCast(inputs[i], plan.reads[plan.firstInput[id] + i]) && infer::isNoTensor(source, id, i))
                return true;
    }
    for (std::size_t k = 0; k < plan.headReads.size(); ++k)
        if (isCast(source.heads()[k], plan.headReads[k]) && infer::isNoTensor(source, source.heads()[k]))
            return true;
    return false;
}

std::vector<bool> sequenceNodes(const graph::Graph &source)
{
    std::vector<bool> found(source.nodeCount(), false);
    for (NodeId id = 0; id < source.nodeCount(); ++id) {
        if (source.isVariable(id))
            continue;
        found[id] = infer::isNoTensor(source, {id, 0, 0});
        for (std::size_t i = 0; i < source.inputs(id).size() && !found[id]; ++i)
            found[id] = infer::isNoTensor(source, id, i);
    }
    return found;
}

} // namespace halftone::mixed
