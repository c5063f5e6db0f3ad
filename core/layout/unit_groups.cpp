#include "core/layout/unit_groups.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace halftone::layout {
namespace {

using graph::NodeId;
using patterns::Unit;

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
constexpr std::size_t kLongest = 4096; ///< places that a unit may be spread over

/// A unit with what stands with it: places in the order, ascending.
struct Gathered
{
    const Unit *unit = nullptr;
    std::vector<std::size_t> places;
};

class Gathering
{
public:
    Gathering(const graph::Graph &graph, std::span<const NodeId> nodes)
        : m_graph(graph)
        , m_nodes(nodes)
        , m_placeOf(graph.nodeCount(), kNowhere)
        , m_readers(nodes.size())
        , m_isOutput(nodes.size())
    {
        for (std::size_t k = 0; k < nodes.size(); ++k)
            m_placeOf[nodes[k]] = k;
        for (std::size_t k = 0; k < nodes.size(); ++k)
            for (const graph::Entry &input : graph.inputs(nodes[k]))
                if (m_placeOf[input.node] != kNowhere)
                    m_readers[m_placeOf[input.node]].push_back(k);
        for (const graph::Entry &head : graph.heads())
            if (m_placeOf[head.node] != kNowhere)
                m_isOutput[m_placeOf[head.node]] = true;
    }

    /// Empty places where the unit cannot stand together.
    Gathered gather(const Unit &unit)
    {
        Gathered found{&unit, {}};
        for (const NodeId node : unit.nodes)
            if (m_placeOf[node] != kNowhere)
                found.places.push_back(m_placeOf[node]);
        std::ranges::sort(found.places);
        if (found.places.size() < 2 || found.places.back() - found.places.front() > kLongest)
            return {};
        takeCompany(found.places);
        takeConstants(found.places);
        return isClosed(found.places) ? found : Gathered();
    }

private:
    /// Nodes between that follow from the unit's values and serve it alone.
    void takeCompany(std::vector<std::size_t> &places) const
    {
        const std::size_t first = places.front();
        const std::size_t last = places.back();
        std::vector<char> isInside(last - first + 1, 0);
        for (const std::size_t place : places)
            isInside[place - first] = 1;
        std::vector<char> follows = isInside; // or reads something of it
        for (std::size_t k = first; k <= last; ++k)
            for (const graph::Entry &input : m_graph.inputs(m_nodes[k])) {
                const std::size_t from = m_placeOf[input.node];
                if (from != kNowhere && from >= first && from < k && follows[from - first] != 0)
                    follows[k - first] = 1;
            }
        for (std::size_t k = last; k-- > first;) {
            if (isInside[k - first] != 0 || follows[k - first] == 0 || m_isOutput[k] || m_readers[k].empty())
                continue;
            const bool servesIt = std::ranges::all_of(m_readers[k], [&](std::size_t reader) {
                return reader <= last && isInside[reader - first] != 0;
            });
            if (!servesIt)
                continue;
            isInside[k - first] = 1;
            places.push_back(k);
        }
        std::ranges::sort(places);
    }

    /// They wait for nothing, and so may stand anywhere.
    void takeConstants(std::vector<std::size_t> &places) const
    {
        std::vector<std::size_t> constants;
        for (const std::size_t place : places)
            for (const graph::Entry &input : m_graph.inputs(m_nodes[place])) {
                const std::size_t from = m_placeOf[input.node];
                if (from != kNowhere && m_graph.inputs(input.node).empty() && !m_graph.isVariable(input.node)
                    && !m_isOutput[from] && std::ranges::all_of(m_readers[from], [&](std::size_t reader) {
                           return std::ranges::binary_search(places, reader);
                       }))
                    constants.push_back(from);
            }
        places.insert(places.end(), constants.begin(), constants.end());
        std::ranges::sort(places);
        places.erase(std::unique(places.begin(), places.end()), places.end());
    }

    bool isClosed(const std::vector<std::size_t> &places) const
    {
        return std::ranges::all_of(places, [&](std::size_t place) {
            return place == places.back()
                || (!m_isOutput[place] && std::ranges::all_of(m_readers[place], [&](std::size_t reader) {
                       return std::ranges::binary_search(places, reader);
                   }));
        });
    }

    const graph::Graph &m_graph;
    std::span<const NodeId> m_nodes;
    std::vector<std::size_t> m_placeOf; ///< by NodeId
    std::vector<std::vector<std::size_t>> m_readers; ///< by place
    std::vector<bool> m_isOutput; ///< by place
};

constexpr std::size_t kDeepest = 4; ///< a Softmax in an Attention in a residual block in a transformer's

/// Where a node comes in the new order, behind what its units wait for: last places of its units, the outermost first, then its own.
using Rank = std::array<std::size_t, kDeepest + 1>;

} // namespace

UnitOrder orderByUnits(const graph::Graph &graph, std::span<const NodeId> nodes, std::span<const Unit> units)
{
    Gathering gathering(graph, nodes);
    std::vector<Gathered> found;
    for (const Unit &unit : units)
        if (Gathered gathered = gathering.gather(unit); !gathered.places.empty())
            found.push_back(std::move(gathered));
    // The larger ones first; one that would cut another is left out.
    std::ranges::stable_sort(found, std::ranges::greater(),
                             [](const Gathered &g) { return g.places.size(); });
    std::vector<Rank> ranks(nodes.size());
    for (std::size_t k = 0; k < ranks.size(); ++k)
        ranks[k].fill(k);
    std::vector<std::uint32_t> owner(nodes.size(), patterns::kNone);
    std::vector<std::size_t> depth(nodes.size(), 0);
    std::vector<const Gathered *> kept;
    for (const Gathered &gathered : found) {
        const std::size_t front = gathered.places.front();
        const bool fits = std::ranges::all_of(gathered.places, [&](std::size_t place) {
            return owner[place] == owner[front] && depth[place] < kDeepest;
        });
        if (!fits)
            continue;
        for (const std::size_t place : gathered.places) {
            ranks[place][depth[place]++] = gathered.places.back();
            owner[place] = static_cast<std::uint32_t>(kept.size());
        }
        kept.push_back(&gathered);
    }
    std::vector<std::size_t> order(nodes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t place) { return ranks[place]; });
    std::vector<std::size_t> newPlace(nodes.size());
    UnitOrder result;
    for (std::size_t k = 0; k < order.size(); ++k) {
        newPlace[order[k]] = k;
        result.nodes.push_back(nodes[order[k]]);
    }
    for (const Gathered *gathered : kept) {
        const std::size_t last = newPlace[gathered->places.back()] + 1;
        result.groups.push_back({gathered->unit->kind, last - gathered->places.size(), last});
    }
    std::ranges::stable_sort(result.groups, {},
                             &UnitGroup::first); // of one place the larger one stays before
    return result;
}

} // namespace halftone::layout
