#pragma once

#include "core/layout/block_tree.h"

#include <cstddef>
#include <span>
#include <vector>

namespace halftone::layout {

inline constexpr std::size_t kLeastNodes = 4; ///< fewer are no block

/// A block or node of a level under construction: the positions [first, last) of an order.
struct LevelItem
{
    std::size_t first = 0;
    std::size_t last = 0;
    ItemRef item;

    std::size_t size() const { return last - first; }
};

/// Where a level is cut into blocks by its structure: at what every path goes through, and long chains in lengths.
class LevelCuts
{
public:
    /// All are kept by reference.
    LevelCuts(const graph::Graph &graph, const std::vector<graph::NodeId> &order,
              const std::vector<std::size_t> &position, const std::vector<graph::NodeId> &boxOf)
        : m_graph(graph)
        , m_order(order)
        , m_position(position)
        , m_boxOf(boxOf)
        , m_itemAt(order.size(), 0)
    {
    }

    /// By index into `children`: the farthest one that reads something of it.
    std::vector<std::size_t> reachOf(std::span<const LevelItem> children);
    /// Where the next block of a level begins: behind a branching part and what little follows it, or in a chain before
    /// an operator like the chain's first. From 0 to the number of children.
    std::vector<std::size_t> cutsOf(std::span<const LevelItem> children);

private:
    /// By index into `children`: nothing goes past it, all paths go through.
    std::vector<char> waistsOf(std::span<const LevelItem> children);
    void cutChain(std::span<const LevelItem> children, std::size_t first, std::size_t last,
                  std::vector<std::size_t> &cuts) const;

    const graph::Graph &m_graph;
    const std::vector<graph::NodeId> &m_order;
    const std::vector<std::size_t> &m_position; ///< by NodeId
    const std::vector<graph::NodeId> &m_boxOf; ///< BlockTree::boxOf
    std::vector<std::size_t> m_itemAt; ///< by position, scratch of reachOf()
};

} // namespace halftone::layout
