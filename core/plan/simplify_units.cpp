#include "core/patterns/unit.h"
#include "core/plan/plan_edit.h"
#include "core/plan/simplify.h"

#include <algorithm>

namespace halftone::plan {
namespace {

using ops::BinaryKind;
using patterns::Network;

Network networkOf(const PlanGraph &graph)
{
    Network network;
    for (const PlanValue &value : graph.values) {
        Network::Value known;
        known.shape = value.desc.shape;
        known.isFixed = value.constant.has_value();
        if (value.constant)
            known.scalar = patterns::scalarOf(*value.constant);
        network.values.push_back(std::move(known));
    }
    for (const PlanNode &node : graph.nodes) {
        Network::Node known{ops::Opaque{}, node.inputs, node.outputs};
        if (node.post.empty())
            known.op = node.op;
        for (const PostOp &post : node.post)
            if (post.operand != kNoValue)
                known.inputs.push_back(post.operand);
        network.nodes.push_back(std::move(known));
    }
    for (const ValueId value : graph.outputs)
        network.values[value].isOutput = true;
    network.connect();
    return network;
}

/// Is it float32 up to a last part, gamma and beta perhaps, that is narrower? Casts may stand between.
bool narrowsAtItsEnd(const PlanGraph &graph, const patterns::Unit &unit)
{
    const auto isWide = [&graph](patterns::NodeIndex node) {
        return graph.desc(graph.nodes[node].outputs[0]).dtype == tensor::DType::F32;
    };
    return isWide(unit.nodes.front()) && std::ranges::is_partitioned(unit.nodes, isWide);
}

/// Does one operator compute it in the type that it is written in? A normalisation of float32 may write a narrower one: it rounds once then,
/// as whatever is fused does.
bool isFusable(const PlanGraph &graph, const patterns::Unit &unit)
{
    const auto type = graph.desc(unit.output).dtype;
    if (!unit.whole || !tensor::isFloat(type))
        return false;
    const bool isNorm = unit.whole->is<ops::LayerNormalization>();
    const auto read = graph.desc(unit.inputs[0]).dtype;
    return read == type || (isNorm && read == tensor::DType::F32 && narrowsAtItsEnd(graph, unit));
}

std::vector<std::string> membersOf(const PlanGraph &graph, const patterns::Unit &unit)
{
    std::vector<std::string> members;
    for (const patterns::NodeIndex node : unit.nodes)
        members.insert(members.end(), graph.nodes[node].members.begin(), graph.nodes[node].members.end());
    return members;
}

/// The number that a constant of one element holds, if the result has the other side's shape.
std::optional<double> numberAt(const PlanGraph &graph, const PlanNode &node, std::size_t side)
{
    const PlanValue &value = graph.values[node.inputs[side]];
    if (!value.constant || !tensor::isFloat(value.desc.dtype)
        || graph.desc(node.inputs[1 - side]) != graph.desc(node.outputs[0]))
        return std::nullopt;
    return patterns::scalarOf(*value.constant);
}

} // namespace

void fuseUnits(PlanGraph &graph)
{
    std::vector<bool> gone(graph.nodes.size());
    for (const patterns::Unit &unit : patterns::findInnerUnits(networkOf(graph))) {
        if (!isFusable(graph, unit))
            continue;
        std::vector<std::string> members = membersOf(graph, unit);
        for (const patterns::NodeIndex node : unit.nodes)
            gone[node] = true;
        const patterns::NodeIndex last = unit.nodes.back();
        gone[last] = false;
        graph.nodes[last] = {*unit.whole,        std::string(patterns::titleOf(unit.kind)),
                             std::move(members), {unit.inputs.begin(), unit.inputs.end()},
                             {unit.output},      {}};
    }
    eraseNodes(graph, gone);
}

void settleScalars(PlanGraph &graph)
{
    for (PlanNode &node : graph.nodes) {
        const auto *binary = node.op.getIf<ops::Binary>();
        if (binary == nullptr || node.inputs.size() != 2 || !node.post.empty()
            || !tensor::isFloat(graph.desc(node.outputs[0]).dtype))
            continue;
        const BinaryKind kind = binary->kind == BinaryKind::Pow ? BinaryKind::Power : binary->kind;
        if (kind > BinaryKind::Minimum || kind == BinaryKind::Mod)
            continue;
        const auto right = numberAt(graph, node, 1);
        const auto left = right ? std::nullopt : numberAt(graph, node, 0);
        if (!left && !right)
            continue;
        node.op = ops::ScalarBinary{kind, left.has_value(), left ? *left : *right, false};
        node.inputs = {node.inputs[left ? 1 : 0]};
    }
}

void splitGemms(PlanGraph &graph)
{
    std::vector<PlanNode> nodes;
    for (PlanNode &node : graph.nodes) {
        const auto *gemm = node.op.getIf<ops::Gemm>();
        const bool isPlain = gemm != nullptr && gemm->alpha == 1 && (!gemm->hasAddend || gemm->beta == 1)
            && node.post.empty() && graph.desc(node.inputs[0]).shape.rank() == 2
            && graph.desc(node.inputs[1]).shape.rank() == 2;
        if (!isPlain) {
            nodes.push_back(std::move(node));
            continue;
        }
        PlanNode product{ops::MatMul{ops::MatMul::Form::Batched, gemm->transposeA, gemm->transposeB},
                         node.opName,
                         node.members,
                         {node.inputs[0], node.inputs[1]},
                         node.outputs,
                         {}};
        if (gemm->hasAddend) {
            const ValueId sum = node.outputs[0];
            product.outputs = {graph.addValue(graph.desc(sum), graph.values[sum].name)};
            PlanNode addition{ops::Binary{BinaryKind::Add, true},   node.opName, node.members,
                              {product.outputs[0], node.inputs[2]}, {sum},       {}};
            nodes.push_back(std::move(product));
            nodes.push_back(std::move(addition));
        } else {
            nodes.push_back(std::move(product));
        }
    }
    graph.nodes = std::move(nodes);
}

} // namespace halftone::plan
