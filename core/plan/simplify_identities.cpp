#include "core/plan/plan_edit.h"
#include "core/plan/simplify.h"

#include <algorithm>

namespace halftone::plan {
namespace {

using ops::UnaryKind;
using tensor::DType;

/// Does every value of `from` exist in `to`?
bool widens(DType from, DType to)
{
    if (from == to)
        return true;
    return (tensor::isHalf(from) && (to == DType::F32 || to == DType::F64))
        || (from == DType::F32 && to == DType::F64);
}

bool isIdentity(const PlanGraph &graph, const PlanNode &node)
{
    if (node.inputs.empty() || node.outputs.empty()
        || graph.desc(node.inputs[0]) != graph.desc(node.outputs[0]))
        return false;
    if (const auto *unary = node.op.getIf<ops::Unary>())
        return unary->kind == UnaryKind::Identity || unary->kind == UnaryKind::StopGradient
            || unary->kind == UnaryKind::MakeLoss;
    if (const auto *dropout = node.op.getIf<ops::Dropout>())
        return !dropout->always;
    if (const auto *regression = node.op.getIf<ops::RegressionOutput>())
        return regression->kind != ops::RegressionOutput::Kind::Logistic;
    if (const auto *resize = node.op.getIf<ops::Upsample>())
        return resize->scale == 1 && resize->kind == ops::Upsample::Kind::Nearest && resize->inputs == 1;
    if (const auto *concat = node.op.getIf<ops::Concat>())
        return concat->inputs == 1;
    return node.op.is<ops::Cast>() || node.op.is<ops::LossOutput>() || node.op.is<ops::Reshape>()
        || node.op.is<ops::Flatten>();
}

/// Operators whose result holds the input's bytes in the input's order.
bool isView(const ops::Operator &op)
{
    return op.is<ops::Reshape>() || op.is<ops::Flatten>() || op.is<ops::Unsqueeze>() || op.is<ops::Squeeze>();
}

/// In inference a SoftmaxOutput is a softmax, whatever its label.
void simplifyLosses(PlanGraph &graph, PlanNode &node)
{
    if (const auto *softmax = node.op.getIf<ops::SoftmaxOutput>()) {
        if (softmax->multiOutput)
            node.op = ops::Softmax{.axis = 1};
        else if (softmax->preserveShape || graph.desc(node.inputs[0]).shape.rank() <= 2)
            node.op = ops::Softmax{.axis = -1};
        else
            node.op = ops::SoftmaxActivation{};
        node.inputs.resize(1);
    } else if (node.op.is<ops::RegressionOutput>()) {
        const auto kind = node.op.as<ops::RegressionOutput>().kind;
        if (kind == ops::RegressionOutput::Kind::Logistic)
            node.op = ops::Unary{UnaryKind::Sigmoid};
        node.inputs.resize(1);
    }
}

/// A multicast is a cast for each of its outputs.
void splitMultiCasts(PlanGraph &graph)
{
    std::vector<PlanNode> nodes;
    for (PlanNode &node : graph.nodes) {
        if (!node.op.is<ops::MultiCast>()) {
            nodes.push_back(std::move(node));
            continue;
        }
        for (std::size_t k = 0; k < node.outputs.size() && k < node.inputs.size(); ++k)
            nodes.push_back({ops::Cast{graph.desc(node.outputs[k]).dtype, true},
                             node.opName,
                             node.members,
                             {node.inputs[k]},
                             {node.outputs[k]},
                             {}});
    }
    graph.nodes = std::move(nodes);
}

/// A view of a widened tensor becomes the widened view of the tensor, so that a later narrowing cast finds the widening
/// one.
void castAfterViews(PlanGraph &graph)
{
    std::vector<PlanNode> nodes;
    std::vector<std::uint32_t> casts(graph.values.size(), kNoPlanNode); // by value: index in `nodes`
    for (PlanNode &node : graph.nodes) {
        const std::uint32_t cast
            = isView(node.op) && node.inputs[0] < casts.size() ? casts[node.inputs[0]] : kNoPlanNode;
        const bool moves = cast != kNoPlanNode
            && widens(graph.desc(nodes[cast].inputs[0]).dtype, graph.desc(node.inputs[0]).dtype);
        if (!moves) {
            if (node.op.is<ops::Cast>())
                casts[node.outputs[0]] = static_cast<std::uint32_t>(nodes.size());
            nodes.push_back(std::move(node));
            continue;
        }
        const ValueId source = nodes[cast].inputs[0];
        const ValueId result = node.outputs[0];
        const ValueId view
            = graph.addValue({graph.desc(source).dtype, graph.desc(result).shape}, graph.values[result].name);
        PlanNode after{ops::Cast{graph.desc(result).dtype, true},
                       nodes[cast].opName,
                       nodes[cast].members,
                       {view},
                       {result},
                       {}};
        node.inputs[0] = source;
        node.outputs[0] = view;
        nodes.push_back(std::move(node));
        casts[result] = static_cast<std::uint32_t>(nodes.size());
        nodes.push_back(std::move(after));
    }
    graph.nodes = std::move(nodes);
}

} // namespace

void removeIdentities(PlanGraph &graph)
{
    splitMultiCasts(graph);
    for (PlanNode &node : graph.nodes)
        simplifyLosses(graph, node);
    std::vector<ValueId> same = keepValues(graph);
    for (const PlanNode &node : graph.nodes)
        if (isIdentity(graph, node))
            same[node.outputs[0]] = node.inputs[0];
    replaceValues(graph, same);
    castAfterViews(graph);

    // A cast of an exactly widened tensor is a cast of the tensor, which may be none at all.
    same = keepValues(graph);
    const PlanUses uses(graph);
    const auto resolved = [&same](ValueId value) {
        while (same[value] != value)
            value = same[value];
        return value;
    };
    for (PlanNode &node : graph.nodes) {
        if (!node.op.is<ops::Cast>())
            continue;
        node.inputs[0] = resolved(node.inputs[0]);
        const std::uint32_t before = uses.producer[node.inputs[0]];
        if (before != kNoPlanNode && graph.nodes[before].op.is<ops::Cast>()
            && widens(graph.desc(graph.nodes[before].inputs[0]).dtype, graph.desc(node.inputs[0]).dtype))
            node.inputs[0] = graph.nodes[before].inputs[0];
        if (graph.desc(node.inputs[0]) == graph.desc(node.outputs[0]))
            same[node.outputs[0]] = node.inputs[0];
    }
    replaceValues(graph, same);
    // A layer that flattens by itself reads what is not flat yet, in whatever layout that has.
    for (PlanNode &node : graph.nodes) {
        const auto *full = node.op.getIf<ops::FullyConnected>();
        if (full == nullptr || !full->flatten)
            continue;
        for (std::uint32_t before = uses.producer[node.inputs[0]];
             before != kNoPlanNode && graph.nodes[before].op.is<ops::Flatten>();
             before = uses.producer[node.inputs[0]])
            node.inputs[0] = graph.nodes[before].inputs[0];
    }
}

} // namespace halftone::plan
