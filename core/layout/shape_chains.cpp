#include "core/layout/shape_chains.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace halftone::layout {
namespace {

using graph::NodeId;

constexpr NodeId kNoSink = static_cast<NodeId>(-1);

/// They give integers, whatever they read.
constexpr std::array<std::string_view, 4> kGivesShapes{"Shape", "Size", "shape_array", "size_array"};
/// They give integers of integers.
constexpr std::array<std::string_view, 17> kKeepsIntegers{
    "Add", "Concat", "Div",     "Equal", "Gather",  "Identity",  "Max", "Min",  "Mod",
    "Mul", "Neg",    "Reshape", "Slice", "Squeeze", "Unsqueeze", "Sub", "Where"};
/// Codes of float types in ONNX: TensorProto.DataType.
constexpr std::array<std::string_view, 4> kFloatCodes{"1", "10", "11", "16"};

template <class Names>
bool isAmong(const Names &names, std::string_view name)
{
    return std::ranges::find(names, name) != names.end();
}

/// Does a node give integers where it reads integers alone?
bool keepsIntegers(const graph::NodeDef &node)
{
    if (node.op == "Cast") {
        const std::string *const to = node.attributes.find("to");
        return to != nullptr && !isAmong(kFloatCodes, *to);
    }
    if (node.op == "ConstantOfShape") { // of 32-bit floats where it says nothing else
        const tensor::Tensor *const value = node.tensorOf("value");
        return value != nullptr && !tensor::isFloat(value->dtype());
    }
    return isAmong(kKeepsIntegers, node.op);
}

} // namespace

ShapeArithmetic shapeArithmetic(const graph::Graph &graph, const std::vector<char> &drawn)
{
    ShapeArithmetic found;
    found.nodes.assign(graph.nodeCount(), 0);
    bool any = false;
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (drawn[id] == 0 || graph.isVariable(id) || graph.inputs(id).empty())
            continue;
        const graph::NodeDef &node = graph.node(id);
        bool isShape = isAmong(kGivesShapes, node.op);
        if (!isShape && keepsIntegers(node)) {
            std::size_t shapes = 0;
            isShape = std::ranges::all_of(graph.inputs(id),
                                          [&](const graph::Entry &input) {
                                              shapes += found.nodes[input.node] != 0 ? 1U : 0U;
                                              return found.nodes[input.node] != 0 || drawn[input.node] == 0;
                                          })
                && shapes > 0;
        }
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
