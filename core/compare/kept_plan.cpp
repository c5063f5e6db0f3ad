#include "core/compare/kept_plan.h"

#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/infer/shown_outputs.h"

#include <algorithm>
#include <string_view>

namespace halftone::compare {

using graph::NodeId;

KeptPlan keptPlanOf(const graph::Model &model, const interpret::Execution &start, const interpret::Feed &feed,
                    ValueKeys &keys)
{
    const graph::Graph &graph = model.graph;
    std::unordered_map<std::string_view, const tensor::Tensor *> parameters;
    for (const tensor::Array &array : model.parameters) {
        if (array.shape.hasRank())
            parameters.insert_or_assign(dialect::variableOf(graph, array.name), &array.values);
    }
    const std::vector<std::size_t> shown = infer::shownOutputs(graph);
    KeptPlan plan;
    plan.order = graph::postOrder(graph);
    std::ranges::sort(plan.order); // NodeIds are in topological order
    plan.keys.resize(graph.nodeCount());
    plan.types.resize(graph.nodeCount());
    plan.bytes.resize(graph.nodeCount());
    for (const NodeId id : plan.order) {
        const bool isCast = dialect::isCast(dialect::roleOf(graph, id));
        Computation computation{graph.sharedNode(id), {}, start.outputsOf(id), shown[id], {}, isCast};
        for (const graph::Entry &entry : graph.inputs(id))
            computation.inputs.emplace_back(plan.keys[entry.node], entry.output);
        for (const kernels::TensorDesc &output : computation.outputs) {
            const auto count = output.shape.elementCount();
            plan.isOpen = plan.isOpen || (!count && !graph.isVariable(id));
            plan.types[id].push_back(output.dtype);
            plan.bytes[id] += static_cast<std::size_t>(count.value_or(0)) * tensor::sizeOf(output.dtype);
        }
        const auto stored = parameters.find(graph.node(id).name);
        if (!graph.isVariable(id))
            plan.allBytes += plan.bytes[id];
        else if (stored != parameters.end() && !feed.contains(graph.node(id).name))
            computation.parameter = *stored->second;
        plan.keys[id] = keys.of(std::move(computation));
    }
    for (const graph::Entry &head : graph.heads())
        plan.headBytes += plan.bytes[head.node];
    return plan;
}

std::size_t bytesAroundANode(const graph::Graph &graph, const KeptPlan &plan)
{
    std::size_t around = 0;
    for (const NodeId id : plan.order) {
        std::size_t bytes = plan.bytes[id];
        for (const graph::Entry &entry : graph.inputs(id))
            bytes += plan.bytes[entry.node];
        around = std::max(around, bytes);
    }
    return around;
}

} // namespace halftone::compare
