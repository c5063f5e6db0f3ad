#include "core/patterns/call_facts.h"

#include "core/dialect/calls.h"
#include "core/patterns/walk.h"

#include <algorithm>

namespace halftone::patterns {
namespace {

/// Of the body of a call, whose variables are the call's inputs in their order.
class BodyFacts
{
public:
    explicit BodyFacts(const graph::Graph &body)
        : m_body(body)
        , m_network(networkOf({body, {}, true}))
        , m_walk(m_network)
    {
        for (graph::NodeId id = 0; id < body.nodeCount(); ++id)
            if (body.isVariable(id))
                m_inputs.push_back(m_network.nodes[id].outputs.front());
    }

    std::optional<CallFacts> find() const
    {
        CallFacts facts;
        const ValueIndex result = m_walk.root(valueOf(m_body.heads().front()));
        const NodeIndex last = m_walk.producer(result);
        if (last == kNone)
            return std::nullopt;
        facts.multiplies = multiplies(last);
        if (const auto *norm = m_walk.op(last).getIf<ops::LayerNormalization>()) {
            facts.norm = norm->centred ? CallFacts::Norm::Centred : CallFacts::Norm::Rms;
            if (isSum(m_walk.inputs(last)[0]))
                facts.sum = headOf(m_walk.root(m_walk.inputs(last)[0]));
        }
        facts.attends = std::ranges::any_of(
            findUnits(m_network), [](const Unit &unit) { return unit.kind == UnitKind::Attention; });
        return facts == CallFacts() ? std::nullopt : std::optional(facts);
    }

private:
    ValueIndex valueOf(const graph::Entry &entry) const
    {
        return m_network.nodes[entry.node].outputs[entry.output];
    }

    bool isInput(ValueIndex value, std::size_t place) const
    {
        return place < m_inputs.size() && m_walk.isSame(value, m_inputs[place]);
    }

    /// Of the first input and a matrix that others give, and perhaps of a bias.
    bool multiplies(NodeIndex node) const
    {
        if (m_walk.isBinary(node, ops::BinaryKind::Add))
            node = m_walk.producer(m_walk.root(m_walk.inputs(node)[0]));
        return node != kNone && m_walk.op(node).is<ops::MatMul>() && isInput(m_walk.inputs(node)[0], 0)
            && !isInput(m_walk.inputs(node)[1], 1);
    }

    /// Of the first two inputs, and perhaps of a bias.
    bool isSum(ValueIndex value) const
    {
        const NodeIndex node = m_walk.producer(m_walk.root(value));
        if (node == kNone || !m_walk.isBinary(node, ops::BinaryKind::Add))
            return false;
        const auto inputs = m_walk.inputs(node);
        return (isInput(inputs[0], 0) && isInput(inputs[1], 1)) || isSum(inputs[0]);
    }

    std::size_t headOf(ValueIndex value) const
    {
        const auto &heads = m_body.heads();
        for (std::size_t k = 1; k < heads.size(); ++k)
            if (m_walk.root(valueOf(heads[k])) == value)
                return k;
        return 0;
    }

    const graph::Graph &m_body;
    Network m_network;
    Walk m_walk;
    std::vector<ValueIndex> m_inputs;
};

} // namespace

std::optional<CallFacts> callFacts(const graph::Graph &graph, graph::NodeId id)
{
    if (!dialect::isCall(graph, id) || graph.node(id).subgraphs.front()->heads().empty())
        return std::nullopt;
    return BodyFacts(*graph.node(id).subgraphs.front()).find();
}

} // namespace halftone::patterns
