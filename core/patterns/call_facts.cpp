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
        facts.attends = attends();
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

    /// One softmax of what a product makes, times values; of more products than an attention has it is a part.
    bool attends() const
    {
        constexpr std::size_t kMostProducts = 3; // of a packed projection, too
        std::vector<NodeIndex> softmaxes;
        std::size_t products = 0;
        for (NodeIndex node = 0; node < m_network.nodes.size(); ++node) {
            if (m_walk.op(node).is<ops::Attention>() || m_walk.op(node).is<ops::Softmax>())
                softmaxes.push_back(node);
            products += m_walk.op(node).is<ops::MatMul>() ? 1 : 0;
        }
        if (softmaxes.size() != 1 || products > kMostProducts)
            return false;
        const NodeIndex softmax = softmaxes.front();
        return m_walk.op(softmax).is<ops::Attention>()
            || (comesOfProduct(m_walk.inputs(softmax)[0]) && isMultiplied(m_walk.result(softmax)));
    }

    bool comesOfProduct(ValueIndex value) const
    {
        std::vector<bool> isSeen(m_network.nodes.size());
        std::vector<ValueIndex> open{value};
        while (!open.empty()) {
            const NodeIndex node = m_network.values[open.back()].producer;
            open.pop_back();
            if (node == kNone || isSeen[node])
                continue;
            if (m_walk.op(node).is<ops::MatMul>())
                return true;
            isSeen[node] = true;
            open.insert(open.end(), m_walk.inputs(node).begin(), m_walk.inputs(node).end());
        }
        return false;
    }

    /// As the first factor, perhaps without a column.
    bool isMultiplied(ValueIndex value) const
    {
        return std::ranges::any_of(m_walk.readers(value), [&](NodeIndex reader) {
            return m_walk.op(reader).is<ops::MatMul>()
                || (m_walk.op(reader).is<ops::Slice>() && isMultiplied(m_walk.result(reader)));
        });
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
