#include "core/patterns/walk.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace halftone::patterns {
namespace {

/// A branch of more nodes is no block any more.
constexpr std::size_t kMostNodes = 200;
constexpr int kMostOnSkip = 3; ///< a projection, its normalisation

bool multiplies(const ops::Operator &op)
{
    return op.is<ops::Conv>() || op.is<ops::MatMul>() || op.is<ops::Gemm>() || op.is<ops::FullyConnected>()
        || op.is<ops::Deconv>() || op.is<ops::Attention>();
}

class ResidualSearch
{
public:
    explicit ResidualSearch(const Walk &walk)
        : m_walk(walk)
    {
    }

    std::optional<Unit> endingAt(NodeIndex sum) const
    {
        if (!m_walk.isBinary(sum, ops::BinaryKind::Add) || m_walk.inputs(sum).size() != 2)
            return std::nullopt;
        for (std::size_t side = 0; side < 2; ++side)
            if (auto unit = withSkip(sum, m_walk.inputs(sum)[side], m_walk.inputs(sum)[1 - side]))
                return unit;
        return std::nullopt;
    }

private:
    /// The skip is the source itself, or a product and its normalisation away from it.
    std::optional<Unit> withSkip(NodeIndex sum, ValueIndex skip, ValueIndex branch) const
    {
        std::vector<NodeIndex> onSkip;
        for (int step = 0; step <= kMostOnSkip; ++step) {
            std::vector<NodeIndex> nodes = onSkip;
            if (!m_walk.isFixed(skip) && takeBranch(branch, skip, nodes)) {
                nodes.push_back(sum);
                Unit unit{.kind = UnitKind::Residual, .nodes = std::move(nodes)};
                unit.output = m_walk.result(sum);
                unit.inputs = {m_walk.root(skip)};
                complete(unit, m_walk);
                return unit;
            }
            const NodeIndex maker = m_walk.producer(m_walk.root(skip));
            if (maker == kNone || !isProjection(maker))
                return std::nullopt;
            onSkip.push_back(maker);
            skip = m_walk.inputs(maker)[0];
        }
        return std::nullopt;
    }

    bool isProjection(NodeIndex node) const
    {
        const ops::Operator &op = m_walk.op(node);
        return (op.is<ops::Conv>() || op.is<ops::BatchNorm>() || op.is<ops::Pool>())
            && !m_walk.inputs(node).empty();
    }

    /// All nodes between `source` and `end`, which must multiply once at least. What else they read, such as a mask, stays outside.
    bool takeBranch(ValueIndex end, ValueIndex source, std::vector<NodeIndex> &nodes) const
    {
        const ValueIndex from = m_walk.root(source);
        std::set<NodeIndex> behind; // all that `end` needs, in the order of the network
        std::vector<ValueIndex> open{end};
        while (!open.empty()) {
            const ValueIndex value = m_walk.root(open.back());
            open.pop_back();
            const NodeIndex maker = m_walk.network().values[value].producer;
            if (value == from || m_walk.isFixed(value) || maker == kNone || !behind.insert(maker).second)
                continue;
            if (behind.size() > kMostNodes)
                return false;
            const auto inputs = m_walk.inputs(maker);
            open.insert(open.end(), inputs.begin(), inputs.end());
        }
        return keepDependents(behind, from, end, nodes);
    }

    /// Of nodes in order those that depend on `from`. Is `end` one of these, and a product among them?
    bool keepDependents(const std::set<NodeIndex> &behind, ValueIndex from, ValueIndex end,
                        std::vector<NodeIndex> &nodes) const
    {
        std::unordered_set<NodeIndex> dependent;
        bool isProduct = false;
        const auto depends = [&](ValueIndex value) {
            const ValueIndex root = m_walk.root(value);
            return root == from || dependent.contains(m_walk.network().values[root].producer);
        };
        for (const NodeIndex node : behind) {
            if (!std::ranges::any_of(m_walk.inputs(node), depends))
                continue;
            dependent.insert(node);
            nodes.push_back(node);
            isProduct = isProduct || multiplies(m_walk.op(node));
        }
        return isProduct && depends(end);
    }

    const Walk &m_walk;
};

} // namespace

std::vector<Unit> findResiduals(const Network &network)
{
    const Walk walk(network);
    const ResidualSearch search(walk);
    std::vector<bool> isTaken(network.nodes.size());
    std::vector<Unit> units;
    for (NodeIndex node = 0; node < network.nodes.size(); ++node) {
        auto unit = search.endingAt(node);
        if (!unit || std::ranges::any_of(unit->nodes, [&](NodeIndex other) { return isTaken[other]; }))
            continue;
        for (const NodeIndex other : unit->nodes)
            isTaken[other] = true;
        units.push_back(std::move(*unit));
    }
    return units;
}

} // namespace halftone::patterns
