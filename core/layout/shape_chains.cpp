#include "core/layout/shape_chains.h"

#include "core/layout/node_kind.h"
#include "core/tensor/dtype.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

namespace halftone::layout {
namespace {

using graph::NodeId;

constexpr NodeId kNoSink = static_cast<NodeId>(-1);

using SameType = ops::TypeList<ops::Concat, ops::Gather, ops::Reshape, ops::Slice, ops::Squeeze,
                               ops::Unsqueeze, ops::Where>;

template <class... Ts>
bool isOneOf(const ops::Operator &op, ops::TypeList<Ts...>)
{
    return (op.is<Ts>() || ...);
}

/// Does it give integers where it reads integers alone?
bool keepsIntegers(const ops::Operator &op)
{
    if (const auto *const cast = op.getIf<ops::Cast>())
        return cast->dtype != tensor::DType::Unknown && !tensor::isFloat(cast->dtype);
    if (const auto *const fill = op.getIf<ops::Fill>())
        return !tensor::isFloat(fill->dtype);
    if (const auto *const unary = op.getIf<ops::Unary>())
        return unary->kind == ops::UnaryKind::Identity || unary->kind == ops::UnaryKind::Negative;
    if (const auto *const binary = op.getIf<ops::Binary>()) {
        constexpr std::array kKinds{ops::BinaryKind::Add, ops::BinaryKind::Sub, ops::BinaryKind::Mul,
                                    ops::BinaryKind::Div, ops::BinaryKind::Mod, ops::BinaryKind::Equal};
        return std::ranges::find(kKinds, binary->kind) != kKinds.end();
    }
    if (const auto *const join = op.getIf<ops::Join>())
        return join->kind == ops::Join::Kind::Maximum || join->kind == ops::Join::Kind::Minimum;
    return isOneOf(op, SameType{});
}

} // namespace

ShapeArithmetic shapeArithmetic(const graph::Graph &graph, const std::vector<char> &drawn)
{
    ShapeArithmetic found;
    found.nodes.assign(graph.nodeCount(), 0);
    if (graph.dialect() == nullptr)
        return found;
    std::unordered_map<std::string_view, bool> giveShapes; // by operator's name
    const auto givesShape = [&](NodeId id) {
        const auto [at, isNew] = giveShapes.try_emplace(graph.node(id).op, false);
        if (isNew)
            at->second = kindOf(graph, id).is<ops::ShapeOf>();
        return at->second;
    };
    bool any = false;
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (drawn[id] == 0 || graph.isVariable(id) || graph.inputs(id).empty())
            continue;
        std::size_t shapes = 0;
        const bool readsIntegers = std::ranges::all_of(graph.inputs(id), [&](const graph::Entry &input) {
            shapes += found.nodes[input.node] != 0 ? 1U : 0U;
            return found.nodes[input.node] != 0 || drawn[input.node] == 0;
        });
        const bool isShape
            = givesShape(id) || (readsIntegers && shapes > 0 && keepsIntegers(kindOf(graph, id)));
        found.nodes[id] = isShape ? 1 : 0;
        any = any || isShape;
    }
    if (!any)
        return found;

    // Each goes to the chain of its readers where these are of one, else it ends a chain itself.
    std::vector<char> isEnd(graph.nodeCount(), 0);
    for (const graph::Entry &head : graph.heads())
        isEnd[head.node] = 1;
    std::vector<NodeId> sinkOf(graph.nodeCount(), kNoSink);
    std::vector<std::vector<NodeId>> nodesOf(graph.nodeCount());
    for (NodeId id = static_cast<NodeId>(graph.nodeCount()); id-- > 0;) {
        if (found.nodes[id] != 0) {
            if (isEnd[id] != 0 || sinkOf[id] == kNoSink)
                sinkOf[id] = id;
            nodesOf[sinkOf[id]].push_back(id);
        }
        for (const graph::Entry &input : graph.inputs(id)) {
            if (found.nodes[input.node] == 0)
                continue;
            if (found.nodes[id] == 0 || (sinkOf[input.node] != kNoSink && sinkOf[input.node] != sinkOf[id]))
                isEnd[input.node] = 1;
            else
                sinkOf[input.node] = sinkOf[id];
        }
    }
    for (std::vector<NodeId> &nodes : nodesOf) {
        if (nodes.size() < 2)
            continue;
        std::ranges::reverse(nodes);
        found.chains.push_back({patterns::UnitKind::ShapeArithmetic, {nodes.begin(), nodes.end()}});
    }
    return found;
}

} // namespace halftone::layout
