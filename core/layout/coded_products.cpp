#include "core/layout/coded_products.h"

#include "core/dialect/coded_pairs.h"
#include "core/layout/node_kind.h"

#include <algorithm>
#include <optional>

namespace halftone::layout {
namespace {

using graph::NodeId;

constexpr NodeId kSeveralReaders = static_cast<NodeId>(-1);
constexpr NodeId kNoReader = static_cast<NodeId>(-2);

bool isCast(const ops::Operator &op)
{
    return op.is<ops::Cast>();
}

bool isMultiplication(const ops::Operator &op)
{
    const auto *const binary = op.getIf<ops::Binary>();
    return binary != nullptr && binary->kind == ops::BinaryKind::Mul;
}

/// Does it give the sums themselves, not codes of them?
bool givesSums(const ops::Operator &op)
{
    if (const auto *const conv = op.getIf<ops::CodedConv>())
        return !conv->recodes;
    const auto *const product = op.getIf<ops::CodedMatMul>();
    return product != nullptr && !product->recodes;
}

class ProductFinder
{
public:
    ProductFinder(const graph::Graph &graph, const std::vector<char> &drawn)
        : m_graph(graph)
        , m_drawn(drawn)
        , m_reader(graph.nodeCount(), kNoReader)
    {
        for (const graph::Entry &head : graph.heads())
            m_reader[head.node] = kSeveralReaders;
        for (NodeId id = 0; id < graph.nodeCount(); ++id)
            for (const graph::Entry &input : graph.inputs(id))
                if (NodeId &reader = m_reader[input.node]; reader != id)
                    reader = reader == kNoReader ? id : kSeveralReaders;
    }

    /// Nothing where other nodes follow the product.
    std::optional<patterns::Unit> unitOf(NodeId product) const
    {
        const std::optional<NodeId> cast = onlyReader(product, isCast);
        const std::optional<NodeId> scaled = cast ? onlyReader(*cast, isMultiplication) : std::nullopt;
        if (!scaled || m_graph.inputs(*scaled).size() != 2)
            return std::nullopt;
        patterns::Unit unit{patterns::UnitKind::CodedProduct, {product, *cast, *scaled}};
        for (const graph::Entry &input : m_graph.inputs(*scaled))
            if (input.node != *cast && m_drawn[input.node] != 0 && onlyReader(input.node) == scaled
                && isMultiplication(kindOf(m_graph, input.node)))
                unit.nodes.push_back(input.node);
        std::ranges::sort(unit.nodes);
        return unit;
    }

private:
    std::optional<NodeId> onlyReader(NodeId id) const
    {
        const NodeId reader = m_reader[id];
        return reader < m_graph.nodeCount() && m_drawn[reader] != 0 ? std::optional(reader) : std::nullopt;
    }
    std::optional<NodeId> onlyReader(NodeId id, bool (*isWanted)(const ops::Operator &)) const
    {
        const std::optional<NodeId> reader = onlyReader(id);
        return reader && isWanted(kindOf(m_graph, *reader)) ? reader : std::nullopt;
    }

    const graph::Graph &m_graph;
    const std::vector<char> &m_drawn;
    std::vector<NodeId> m_reader; ///< by NodeId, the only one
};

} // namespace

std::vector<patterns::Unit> codedProducts(const graph::Graph &graph, const std::vector<char> &drawn)
{
    std::vector<patterns::Unit> units;
    const dialect::CodedPairs *const pairs
        = graph.dialect() != nullptr ? dialect::codedPairsOf(*graph.dialect()) : nullptr;
    if (pairs == nullptr)
        return units;
    std::optional<ProductFinder> finder; // most models have none
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (drawn[id] == 0 || graph.isVariable(id) || !pairs->computesCodes(graph.node(id))
            || !givesSums(kindOf(graph, id)))
            continue;
        if (!finder)
            finder.emplace(graph, drawn);
        if (auto unit = finder->unitOf(id))
            units.push_back(std::move(*unit));
    }
    return units;
}

} // namespace halftone::layout
