#include "core/passes/node_types.h"

#include "core/dialect/mxnet/body_binding.h"
#include "core/graph/traverse.h"
#include "core/passes/infer_types.h"

#include <algorithm>

namespace halftone::passes {

using graph::NodeId;
using ops::TypeOutcome;
using tensor::DType;
namespace mx = dialect::mxnet;

namespace {

/// A quantized fused operator is no longer what its body says: the body was written before quantization.
bool isQuantized(const graph::NodeDef &node)
{
    const std::string *text = node.attributes.find("quantized");
    return text != nullptr && (*text == "True" || *text == "true" || *text == "1");
}

bool merge(DType &known, DType found)
{
    if (known == DType::Unknown)
        known = found;
    return found == DType::Unknown || known == found;
}

} // namespace

NodeTypes::NodeTypes(const graph::Graph &graph)
    : m_graph(graph)
    , m_referenced(graph::referencedOutputs(graph))
{
    for (const std::string &name : graph.operatorNames())
        m_ops.push_back(name == graph::kVariableOp ? nullptr : mx::findOp(name));
}

bool NodeTypes::isMutable(NodeId id, std::size_t input) const
{
    return op(id) != nullptr && mx::isMutableInput(*op(id), input);
}

std::uint32_t NodeTypes::outputCount(NodeId id) const
{
    const std::uint32_t referenced = m_referenced[id];
    return op(id) == nullptr ? referenced
                             : std::max(referenced, static_cast<std::uint32_t>(mx::outputCount(*op(id), m_graph.node(id).attributes)));
}

TypeOutcome NodeTypes::apply(NodeId id, std::span<DType> inputs, std::span<DType> outputs, std::size_t *where) const
{
    const graph::NodeDef &node = m_graph.node(id);
    if (!node.subgraphs.empty() && !isQuantized(node))
        return applyBodies(id, inputs, outputs);
    if (op(id) == nullptr)
        return TypeOutcome::Incomplete;
    return mx::typeRule(*op(id), node.attributes).apply(inputs, outputs, where);
}

TypeOutcome NodeTypes::applyBodies(NodeId id, std::span<DType> inputs, std::span<DType> outputs) const
{
    const graph::NodeDef &node = m_graph.node(id);
    const auto bindings = mx::bindBodies(node, inputs.size());
    if (!bindings.ok())
        return TypeOutcome::Refused;
    for (const mx::BodyBinding &binding : bindings.value()) {
        const graph::Graph &body = *node.subgraphs[binding.subgraph];
        std::vector<DType> variables(body.nodeCount(), DType::Unknown);
        for (std::size_t v = 0; v < binding.variables.size(); ++v) {
            if (binding.inputs[v] != mx::BodyBinding::kNone)
                variables[binding.variables[v]] = inputs[binding.inputs[v]];
        }
        const auto types = inferTypes(body, variables);
        if (!types.ok())
            return TypeOutcome::Refused;
        for (std::size_t v = 0; v < binding.variables.size(); ++v) {
            if (binding.inputs[v] != mx::BodyBinding::kNone)
                merge(inputs[binding.inputs[v]], types.value().at(binding.variables[v], 0));
        }
        const std::size_t given = binding.givesOutputs ? std::min(body.heads().size(), outputs.size()) : 0;
        for (std::size_t k = 0; k < given; ++k) {
            if (!merge(outputs[k], types.value().of(body.heads()[k])))
                return TypeOutcome::Refused;
        }
    }
    const bool open = std::ranges::find(inputs, DType::Unknown) != inputs.end() || std::ranges::find(outputs, DType::Unknown) != outputs.end();
    return open ? TypeOutcome::Incomplete : TypeOutcome::Complete;
}

} // namespace halftone::passes
