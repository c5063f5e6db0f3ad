#include "core/patterns/walk.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace halftone::patterns {
namespace {

bool holds(const Unit &unit, NodeIndex node)
{
    return std::ranges::binary_search(unit.nodes, node);
}

class Finder
{
public:
    explicit Finder(const Network &network)
        : m_walk(network)
        , m_owner(network.nodes.size(), kNone)
    {
    }

    std::vector<Unit> inner()
    {
        findInner();
        return inOrder();
    }

    std::vector<Unit> all()
    {
        findInner();
        for (NodeIndex node = 0; node < m_owner.size(); ++node)
            if (m_owner[node] == kNone)
                add(findOperator(m_walk, node));
        std::vector<Unit> inner = inOrder();
        for (std::uint32_t k = 0; k < inner.size(); ++k)
            for (const NodeIndex node : inner[k].nodes)
                m_owner[node] = k;
        const UnitIndex index(inner, m_walk.network());
        std::vector<bool> isTaken(m_owner.size());
        m_units.clear();
        for (NodeIndex node = 0; node < m_owner.size(); ++node)
            for (const auto find : {&findAttention, &findMlp, &findGatedMlp})
                if (auto unit = find(m_walk, index, node); unit && isApart(*unit, inner, isTaken)) {
                    for (const NodeIndex taken : unit->nodes)
                        isTaken[taken] = true;
                    m_units.push_back(std::move(*unit));
                }
        inner.insert(inner.end(), std::make_move_iterator(m_units.begin()),
                     std::make_move_iterator(m_units.end()));
        m_units = std::move(inner);
        return inOrder();
    }

private:
    void findInner()
    {
        for (NodeIndex node = 0; node < m_owner.size(); ++node)
            for (const auto find : {&findNorm, &findSoftmax, &findActivation, &findRotary})
                if (m_owner[node] == kNone)
                    add(find(m_walk, node));
    }

    /// By their last nodes; an inner one stands before the one that ends with it.
    std::vector<Unit> inOrder()
    {
        std::vector<std::uint32_t> order(m_units.size());
        std::iota(order.begin(), order.end(), 0U);
        std::ranges::stable_sort(order, {}, [this](std::uint32_t k) { return m_units[k].nodes.back(); });
        std::vector<Unit> sorted;
        sorted.reserve(order.size());
        for (const std::uint32_t k : order)
            sorted.push_back(std::move(m_units[k]));
        return sorted;
    }

    void add(std::optional<Unit> unit)
    {
        const auto isFree = [this](NodeIndex node) { return m_owner[node] == kNone; };
        if (!unit || !std::ranges::all_of(unit->nodes, isFree))
            return;
        for (const NodeIndex node : unit->nodes)
            m_owner[node] = static_cast<std::uint32_t>(m_units.size());
        m_units.push_back(std::move(*unit));
    }

    /// Does it share no node with another of its like, and hold inner ones whole?
    bool isApart(const Unit &unit, const std::vector<Unit> &inner, const std::vector<bool> &isTaken) const
    {
        return std::ranges::all_of(unit.nodes, [&](NodeIndex node) {
            return !isTaken[node]
                && (m_owner[node] == kNone
                    || std::ranges::all_of(inner[m_owner[node]].nodes,
                                           [&](NodeIndex other) { return holds(unit, other); }));
        });
    }

    Walk m_walk;
    std::vector<std::uint32_t> m_owner; ///< by NodeIndex: place in m_units
    std::vector<Unit> m_units;
};

} // namespace

std::string_view titleOf(UnitKind kind)
{
    switch (kind) {
    case UnitKind::LayerNorm:
        return "LayerNorm";
    case UnitKind::RmsNorm:
        return "RMSNorm";
    case UnitKind::Softmax:
        return "Softmax";
    case UnitKind::Gelu:
        return "GELU";
    case UnitKind::GeluTanh:
        return "GELU (tanh)";
    case UnitKind::Swish:
        return "SiLU";
    case UnitKind::HardSwish:
        return "HardSwish";
    case UnitKind::Mish:
        return "Mish";
    case UnitKind::RotaryEmbedding:
        return "Rotary embedding";
    case UnitKind::Attention:
        return "Attention";
    case UnitKind::Mlp:
        return "MLP";
    case UnitKind::GatedMlp:
        return "Gated MLP";
    case UnitKind::ShapeArithmetic:
        return "Shape arithmetic";
    case UnitKind::CodedProduct:
        return "Product of codes";
    case UnitKind::Residual:
        return "Residual block";
    case UnitKind::TransformerBlock:
        return "Transformer block";
    }
    return {};
}

bool isComposite(UnitKind kind)
{
    return kind == UnitKind::Attention || kind == UnitKind::Mlp || kind == UnitKind::GatedMlp
        || kind == UnitKind::Residual || kind == UnitKind::TransformerBlock;
}

UnitIndex::UnitIndex(const std::vector<Unit> &units, const Network &network)
    : m_units(units)
    , m_last(network.nodes.size(), kNone)
{
    for (std::uint32_t k = 0; k < units.size(); ++k)
        m_last[network.values[units[k].output].producer] = k;
}

const Unit *UnitIndex::endingAt(NodeIndex node) const
{
    return m_last[node] == kNone ? nullptr : &m_units[m_last[node]];
}

void complete(Unit &unit, const Walk &walk)
{
    const Network &network = walk.network();
    std::vector<NodeIndex> &nodes = unit.nodes;
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    std::vector<NodeIndex> between;
    for (const NodeIndex node : nodes)
        for (const ValueIndex input : walk.inputs(node)) {
            std::vector<NodeIndex> casts;
            NodeIndex before = walk.producer(input);
            for (; before != kNone && walk.passes(before); before = walk.producer(walk.inputs(before)[0]))
                casts.push_back(before);
            if (before != kNone && holds(unit, before))
                between.insert(between.end(), casts.begin(), casts.end());
        }
    nodes.insert(nodes.end(), between.begin(), between.end());
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    unit.isClosed = std::ranges::all_of(nodes, [&](NodeIndex node) {
        return std::ranges::all_of(network.nodes[node].outputs, [&](ValueIndex value) {
            return value == unit.output
                || (!network.values[value].isOutput
                    && std::ranges::all_of(network.readers[value],
                                           [&](NodeIndex reader) { return holds(unit, reader); }));
        });
    });
}

std::vector<Unit> findInnerUnits(const Network &network)
{
    return Finder(network).inner();
}

std::vector<Unit> findUnits(const Network &network)
{
    return Finder(network).all();
}

} // namespace halftone::patterns
