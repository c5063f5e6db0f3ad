#include "core/patterns/walk.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace halftone::patterns {
namespace {

bool isNorm(const Unit &unit)
{
    return unit.kind == UnitKind::LayerNorm || unit.kind == UnitKind::RmsNorm;
}

/// Joins residual blocks that follow each other, the first with an attention in it.
class TransformerSearch
{
public:
    TransformerSearch(const Walk &walk, const std::vector<Unit> &units, const std::vector<Unit> &residuals)
        : m_walk(walk)
        , m_hasAttention(walk.network().nodes.size())
        , m_normOf(walk.network().nodes.size())
    {
        for (const Unit &unit : units) {
            if (isNorm(unit))
                for (const NodeIndex node : unit.nodes)
                    m_normOf[node] = &unit;
            if (unit.kind == UnitKind::Attention)
                m_hasAttention[unit.nodes.back()] = true;
        }
        for (const Unit &unit : residuals)
            m_behind.emplace(unit.inputs.front(), &unit);
    }

    std::optional<Unit> beginningWith(const Unit &first) const
    {
        if (!holdsAttention(first))
            return std::nullopt;
        const ValueIndex sum = m_walk.root(first.output);
        if (const Unit *const second = behind(sum))
            return joined(first, *second, {});
        for (const NodeIndex reader : m_walk.readers(sum)) { // the norm stands behind the sum
            const std::vector<NodeIndex> norm = normWith(reader, sum);
            const Unit *const second = norm.empty() ? nullptr : behind(m_walk.root(outputOf(norm)));
            if (second != nullptr)
                return joined(first, *second, norm);
        }
        return std::nullopt;
    }

private:
    bool holdsAttention(const Unit &unit) const
    {
        return std::ranges::any_of(
            unit.nodes, [this](NodeIndex node) { return m_hasAttention[node] || m_walk.isAttention(node); });
    }

    const Unit *behind(ValueIndex value) const
    {
        const auto found = m_behind.find(value);
        return found == m_behind.end() || holdsAttention(*found->second) ? nullptr : found->second;
    }

    ValueIndex outputOf(const std::vector<NodeIndex> &norm) const { return m_walk.result(norm.back()); }

    /// The nodes of the normalisation of `value` that `reader` is, or begins; none where it is no such.
    std::vector<NodeIndex> normWith(NodeIndex reader, ValueIndex value) const
    {
        if (m_walk.op(reader).is<ops::LayerNormalization>())
            return {reader};
        const bool reads = std::ranges::any_of(m_walk.inputs(reader),
                                               [&](ValueIndex input) { return m_walk.isSame(input, value); });
        return reads && m_normOf[reader] != nullptr ? m_normOf[reader]->nodes : std::vector<NodeIndex>();
    }

    Unit joined(const Unit &first, const Unit &second, const std::vector<NodeIndex> &norm) const
    {
        Unit unit{.kind = UnitKind::TransformerBlock, .nodes = first.nodes};
        unit.inputs = first.inputs;
        unit.output = second.output;
        const auto add = [&unit](const std::vector<NodeIndex> &nodes) {
            unit.nodes.insert(unit.nodes.end(), nodes.begin(), nodes.end());
        };
        add(second.nodes);
        add(norm);
        if (!norm.empty()) // then there is one behind the second, too
            for (const NodeIndex reader : m_walk.readers(second.output))
                if (const auto last = normWith(reader, second.output); !last.empty()) {
                    add(last);
                    unit.output = outputOf(last);
                    break;
                }
        complete(unit, m_walk);
        return unit;
    }

    const Walk &m_walk;
    std::vector<bool> m_hasAttention; ///< by NodeIndex: the last node of one
    std::vector<const Unit *> m_normOf; ///< by NodeIndex: the norm that it is part of
    std::unordered_map<ValueIndex, const Unit *> m_behind; ///< residual blocks by what they add to
};

} // namespace

std::vector<Unit> findAllUnits(const Network &network)
{
    std::vector<Unit> units = findUnits(network);
    std::vector<Unit> residuals = findResiduals(network);
    std::vector<Unit> blocks;
    const Walk walk(network);
    const TransformerSearch search(walk, units, residuals);
    for (const Unit &residual : residuals)
        if (auto block = search.beginningWith(residual))
            blocks.push_back(std::move(*block));
    std::ranges::move(residuals, std::back_inserter(units));
    std::ranges::move(blocks, std::back_inserter(units));
    return units;
}

} // namespace halftone::patterns
