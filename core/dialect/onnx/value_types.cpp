#include "core/dialect/onnx/value_types.h"

#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/dialect/onnx/onnx_dialect.h"

#include <algorithm>
#include <cstddef>

namespace halftone::dialect::onnx {
namespace {

using graph::NodeDef;
using tensor::DType;
using Types = std::vector<DType>;

DType at(const ValueTypes &types, const graph::Entry &entry)
{
    const Types &of = types[entry.node];
    return entry.output < of.size() ? of[entry.output] : DType::Unknown;
}

DType typeOfVariable(const NodeDef &variable, std::span<const DType> captured, DType held)
{
    if (const std::string *const text = variable.attributes.find(kCapturedKey)) {
        const auto number = parseInteger(*text).value_or(-1);
        return number >= 0 && number < std::ssize(captured) ? captured[static_cast<std::size_t>(number)]
                                                            : DType::Unknown;
    }
    if (held != DType::Unknown)
        return held;
    const std::string *const text = variable.attributes.find(kTypeKey);
    return text ? tensor::dtypeNamed(*text).value_or(DType::Unknown) : DType::Unknown;
}

/// Before what a Loop's body gives stands whether it goes on.
Types ofBody(const NodeDef &node, const Types &inputs)
{
    Types captured;
    for (std::size_t k = 0; k < inputs.size(); ++k)
        if (node.slotOf(k) >= kFirstCapturedSlot)
            captured.push_back(inputs[k]);
    const graph::Graph &body = *node.subgraphs.front();
    const ValueTypes within = valueTypes(body, captured, [](const NodeDef &) { return DType::Unknown; });
    const auto heads = body.heads();
    Types types;
    for (std::size_t k = node.op == "Loop" ? 1 : 0; k < heads.size(); ++k)
        types.push_back(at(within, heads[k]));
    return types;
}

Types ofRule(const dialect::OpInfo &info, const NodeDef &node, const Types &inputs)
{
    Types slots;
    for (std::size_t k = 0; k < inputs.size() && node.slotOf(k) < kFirstCapturedSlot; ++k) {
        slots.resize(std::max(slots.size(), node.slotOf(k) + 1), DType::Unknown);
        slots[node.slotOf(k)] = inputs[k];
    }
    Types outputs(std::max(node.outputs.size(), info.outputCount(node.attributes)), DType::Unknown);
    info.typeRule(node.attributes).apply(slots, outputs);
    return outputs;
}

} // namespace

ValueTypes valueTypes(const graph::Graph &graph, std::span<const DType> captured,
                      const std::function<DType(const NodeDef &variable)> &held)
{
    ValueTypes types(graph.nodeCount());
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const NodeDef &node = graph.node(id);
        Types &own = types[id];
        if (graph.isVariable(id)) {
            own.push_back(typeOfVariable(node, captured, held(node)));
            continue;
        }
        Types inputs;
        for (const graph::Entry &entry : graph.inputs(id))
            inputs.push_back(at(types, entry));
        if (!node.subgraphs.empty())
            own = ofBody(node, inputs);
        else if (const dialect::OpInfo *const info = dialect::of(graph).findOp(node.op))
            own = ofRule(*info, node, inputs);
    }
    return types;
}

} // namespace halftone::dialect::onnx
