#include "core/patterns/walk.h"

#include <algorithm>
#include <cstdint>

namespace halftone::patterns {
namespace {

/// A branch of more nodes is no block any more.
constexpr std::size_t kMostNodes = 200;
constexpr int kMostOnSkip = 3; ///< a projection, its normalisation

bool multiplies(const Walk &walk, NodeIndex node)
{
    return walk.isProduct(node) || walk.isAttention(node) || walk.op(node).is<ops::Conv>()
        || walk.op(node).is<ops::ConvTranspose>();
}

class ResidualSearch
{
public:
    explicit ResidualSearch(const Walk &walk)
        : m_walk(walk)
        , m_seen(walk.network().nodes.size(), 0)
    {
    }

    std::optional<Unit> endingAt(NodeIndex sum)
    {
        const bool isPlain = m_walk.isBinary(sum, ops::BinaryKind::Add) && m_walk.inputs(sum).size() == 2;
        if (!isPlain && !normalisesSum(sum))
            return std::nullopt;
        for (std::size_t side = 0; side < 2; ++side)
            if (auto unit = withSkip(sum, m_walk.inputs(sum)[side], m_walk.inputs(sum)[1 - side]))
                return unit;
        return std::nullopt;
    }

private:
    /// A call that gives the sum together with its norm.
    bool normalisesSum(NodeIndex node) const
    {
        const CallFacts *const call = m_walk.call(node);
        return call != nullptr && call->sum && *call->sum < m_walk.network().nodes[node].outputs.size();
    }

    /// Is it `source`, or the norm that the same call gives?
    bool isSource(ValueIndex value, ValueIndex source) const
    {
        const NodeIndex node = m_walk.network().values[source].producer;
        return value == source
            || (node != kNone && m_walk.network().values[value].producer == node && normalisesSum(node));
    }

    /// The skip is the source itself, or a product and its normalisation away from it.
    std::optional<Unit> withSkip(NodeIndex sum, ValueIndex skip, ValueIndex branch)
    {
        std::vector<NodeIndex> onSkip;
        for (int step = 0; step <= kMostOnSkip; ++step) {
            std::vector<NodeIndex> nodes = onSkip;
            if (!m_walk.isFixed(skip) && takeBranch(branch, skip, nodes)) {
                nodes.push_back(sum);
                Unit unit{.kind = UnitKind::Residual, .nodes = std::move(nodes)};
                const CallFacts *const call = m_walk.call(sum);
                unit.output = m_walk.network().nodes[sum].outputs[call != nullptr ? *call->sum : 0];
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
        return (op.is<ops::Conv>() || op.is<ops::BatchNormalization>() || op.is<ops::Pool>())
            && !m_walk.inputs(node).empty();
    }

    /// All nodes between `source` and `end`, which must multiply once at least. What else they read, such as a mask, stays outside.
    bool takeBranch(ValueIndex end, ValueIndex source, std::vector<NodeIndex> &nodes)
    {
        const ValueIndex from = m_walk.root(source);
        const NodeIndex maker = m_walk.network().values[from].producer;
        const NodeIndex first = maker == kNone ? 0 : maker + 1; // what depends on the source stands behind it
        ++m_stamp;
        std::vector<NodeIndex> behind; // all that `end` needs
        std::vector<ValueIndex> open{end};
        while (!open.empty()) {
            const ValueIndex value = m_walk.root(open.back());
            open.pop_back();
            const NodeIndex node = m_walk.network().values[value].producer;
            if (isSource(value, from) || node == kNone || node < first || m_seen[node] == m_stamp
                || m_walk.isFixed(value))
                continue;
            m_seen[node] = m_stamp;
            behind.push_back(node);
            if (behind.size() > kMostNodes)
                return false;
            for (const ValueIndex input : m_walk.inputs(node))
                open.push_back(input);
        }
        std::ranges::sort(behind);
        return keepDependents(behind, from, end, nodes);
    }

    /// Of nodes in order those that depend on `from`. Is `end` one of these, and a product among them?
    bool keepDependents(const std::vector<NodeIndex> &behind, ValueIndex from, ValueIndex end,
                        std::vector<NodeIndex> &nodes)
    {
        ++m_stamp;
        bool isProduct = false;
        const auto depends = [&](ValueIndex value) {
            const ValueIndex root = m_walk.root(value);
            const NodeIndex maker = m_walk.network().values[root].producer;
            return isSource(root, from) || (maker != kNone && m_seen[maker] == m_stamp);
        };
        for (const NodeIndex node : behind) {
            if (!std::ranges::any_of(m_walk.inputs(node), depends))
                continue;
            m_seen[node] = m_stamp;
            nodes.push_back(node);
            isProduct = isProduct || multiplies(m_walk, node);
        }
        return isProduct && depends(end);
    }

    const Walk &m_walk;
    std::vector<std::uint32_t> m_seen; ///< by NodeIndex: when the node was last met
    std::uint32_t m_stamp = 0;
};

} // namespace

std::vector<Unit> findResiduals(const Network &network)
{
    const Walk walk(network);
    ResidualSearch search(walk);
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
