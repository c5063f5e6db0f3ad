#include "core/layout/level_cuts.h"

#include <algorithm>

namespace halftone::layout {
namespace {

constexpr std::size_t kChain = 9; ///< about as many nodes of a chain make a block

} // namespace

std::vector<std::size_t> LevelCuts::reachOf(std::span<const LevelItem> children)
{
    std::vector<std::size_t> reach(children.size(), 0);
    for (std::size_t i = 0; i < children.size(); ++i)
        for (std::size_t k = children[i].first; k < children[i].last; ++k)
            m_itemAt[k] = i;
    const std::size_t start = children.front().first;
    for (std::size_t k = start; k < children.back().last; ++k) {
        for (const graph::Entry &input : m_graph.inputs(m_order[k])) {
            const std::size_t from = m_position[m_boxOf[input.node]];
            if (m_boxOf[input.node] == input.node && from >= start && from < k)
                reach[m_itemAt[from]] = std::max(reach[m_itemAt[from]], m_itemAt[k]);
        }
    }
    return reach;
}

std::vector<char> LevelCuts::waistsOf(std::span<const LevelItem> children)
{
    const std::vector<std::size_t> reach = reachOf(children);
    std::vector<char> isWaist(children.size(), 0);
    std::size_t farthest = 0;
    for (std::size_t i = 0; i < children.size(); ++i) {
        isWaist[i] = farthest <= i ? 1 : 0;
        farthest = std::max(farthest, reach[i]);
    }
    return isWaist;
}

std::vector<std::size_t> LevelCuts::cutsOf(std::span<const LevelItem> children)
{
    const std::vector<char> isWaist = waistsOf(children);
    const std::size_t n = children.size();
    std::vector<std::size_t> cuts{0};
    std::size_t at = 0;
    while (at < n) {
        std::size_t chain = at; // end of the run of waists
        while (chain < n && isWaist[chain] != 0)
            ++chain;
        const std::size_t fork = chain < n && chain > at ? chain - 1 : chain;
        if (at > 0 && chain - at <= 3 && chain < n) {
            cuts.push_back(chain); // too short a chain: belongs to the block before it
        } else {
            cutChain(children, at, chain, cuts);
            if (chain < n && fork + 1 > at)
                cuts.push_back(chain);
        }
        std::size_t join = chain; // the waist that ends the branching part
        while (join < n && isWaist[join] == 0)
            ++join;
        at = std::min(n, join + 1);
        if (join < n && at < n) {
            std::size_t next = at;
            while (next < n && isWaist[next] != 0)
                ++next;
            if (next - at > 3 || next == n)
                cuts.push_back(at);
        }
    }
    cuts.push_back(n);
    std::ranges::sort(cuts);
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    return cuts;
}

void LevelCuts::cutChain(std::span<const LevelItem> children, std::size_t first, std::size_t last,
                         std::vector<std::size_t> &cuts) const
{
    const auto opAt = [&](std::size_t k) {
        return children[k].item.isBlock ? m_graph.nodeCount() : m_graph.opOf(m_order[children[k].first]);
    };
    while (first < last && m_graph.isVariable(m_order[children[first].first]))
        ++first;
    std::size_t begun = first;
    for (std::size_t k = first; k < last; ++k) {
        const std::size_t length = k - begun;
        if (last - k >= kLeastNodes
            && ((length >= kChain && opAt(k) == opAt(first)) || length >= 2 * kChain)) {
            cuts.push_back(k);
            begun = k;
        }
    }
}

} // namespace halftone::layout
