#include "core/patterns/network.h"

#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/patterns/call_facts.h"
#include "core/tensor/convert.h"

#include <string_view>
#include <unordered_map>

namespace halftone::patterns {
namespace {

using graph::NodeId;
using tensor::DType;

class Builder
{
public:
    explicit Builder(const graph::Model &model)
        : m_graph(model.graph)
        , m_outputs(graph::referencedOutputs(model.graph))
        , m_known(model.graph.nodeCount())
        , m_hasParameters(model.hasParameters)
    {
        for (const tensor::Array &array : model.parameters)
            if (array.storage == tensor::Storage::Dense)
                m_arrays.emplace(dialect::variableOf(m_graph, array.name), &array);
    }

    Network build()
    {
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            addNode(id);
        for (const graph::Entry &head : m_graph.heads())
            m_network.values[m_network.nodes[head.node].outputs[head.output]].isOutput = true;
        m_network.connect();
        return std::move(m_network);
    }

private:
    void addNode(NodeId id)
    {
        Network::Node node;
        for (const graph::Entry &input : m_graph.inputs(id))
            node.inputs.push_back(m_network.nodes[input.node].outputs[input.output]);
        for (std::uint32_t output = 0; output < m_outputs[id]; ++output) {
            node.outputs.push_back(static_cast<ValueIndex>(m_network.values.size()));
            m_network.values.emplace_back();
        }
        Network::Value &result = m_network.values[node.outputs.front()];
        const graph::NodeDef &def = m_graph.node(id);
        if (m_graph.isVariable(id)) {
            result.isFixed = !m_hasParameters; // else it is what the file holds
            if (const auto array = m_arrays.find(def.name); array != m_arrays.end())
                fix(result, id, array->second->values);
        } else if (const auto held = dialect::of(m_graph).constantOf(def); held.ok() && held.value()) {
            fix(result, id, *held.value());
        } else {
            read(node, id);
            node.call = callFacts(m_graph, id);
        }
        m_network.nodes.push_back(std::move(node));
    }

    void fix(Network::Value &value, NodeId id, const tensor::Tensor &tensor)
    {
        value.isFixed = true;
        value.shape = tensor.shape();
        value.scalar = scalarOf(tensor);
        m_known[id] = tensor;
    }

    void read(Network::Node &node, NodeId id)
    {
        const graph::NodeDef &def = m_graph.node(id);
        const dialect::Dialect &dialect = dialect::of(m_graph);
        std::vector<tensor::Tensor> values;
        for (const graph::Entry &input : m_graph.inputs(id))
            values.push_back(input.output == 0 ? m_known[input.node] : tensor::Tensor());
        if (auto op = dialect.readWith(def, values); op.ok())
            node.op = std::move(op).value();
        if (!node.op.is<ops::Opaque>())
            return;
        node.isKindOnly = true;
        if (auto op = dialect.readKind(def); op.ok())
            node.op = std::move(op).value();
    }

    const graph::Graph &m_graph;
    std::vector<std::uint32_t> m_outputs;
    std::vector<tensor::Tensor> m_known; ///< by NodeId: what it holds; of unknown type where it computes
    std::unordered_map<std::string_view, const tensor::Array *> m_arrays;
    bool m_hasParameters;
    Network m_network;
};

} // namespace

void Network::connect()
{
    readers.assign(values.size(), {});
    for (NodeIndex k = 0; k < nodes.size(); ++k) {
        for (const ValueIndex value : nodes[k].outputs)
            values[value].producer = k;
        for (const ValueIndex value : nodes[k].inputs)
            readers[value].push_back(k);
    }
}

std::optional<double> scalarOf(const tensor::Tensor &tensor)
{
    if (tensor.dtype() == DType::Unknown || tensor.elementCount() != 1)
        return std::nullopt;
    const auto wide = tensor::castTo(tensor, DType::F64);
    return wide.ok() ? std::optional(wide.value().values<double>().front()) : std::nullopt;
}

Network networkOf(const graph::Model &model)
{
    return Builder(model).build();
}

} // namespace halftone::patterns
