#include "core/mixed/type_cut.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace halftone::mixed {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;

} // namespace

TypeCut::TypeCut()
{
    addVertex();
    addVertex();
}

void TypeCut::connect(Term from, Term to, std::int64_t capacity, std::int64_t back)
{
    if (from != to)
        m_edges.push_back({from, to, capacity, back});
}

TypeCut::Term TypeCut::addNode(bool isHalf, bool prefersHalf)
{
    const Term node = addVertex();
    m_nodes.push_back({node, isHalf, prefersHalf});
    return node;
}

void TypeCut::addCosts(Term node, std::int64_t half, std::int64_t float32)
{
    if (half > 0)
        connect(node, kFloat32, half);
    if (float32 > 0)
        connect(kHalf, node, float32);
}

void TypeCut::addCostBetween(Term node, Term other, std::int64_t cost)
{
    if (cost > 0)
        connect(node, other, cost);
}

void TypeCut::addTensor(Term producer, std::span<const Term> readers, std::int64_t widening,
                        std::int64_t narrowing)
{
    if (widening <= 0 && narrowing <= 0)
        return;
    if (readers.size() == 1) // as most have
        return connect(producer, readers[0], widening, narrowing);
    const Term widened = addVertex(); // cut off when the producer is 16 bit and a reader is not
    const Term narrowed = addVertex();
    connect(producer, widened, widening);
    connect(narrowed, producer, narrowing);
    for (const Term reader : readers) {
        connect(widened, reader, kNever);
        connect(reader, narrowed, kNever);
    }
}

void TypeCut::require(Term node, Term other)
{
    connect(node, other, kNever);
}

void TypeCut::layOut()
{
    m_first.assign(m_vertices + 1, 0);
    for (const Edge &edge : m_edges) {
        ++m_first[edge.from + 1];
        ++m_first[edge.to + 1];
    }
    std::partial_sum(m_first.begin(), m_first.end(), m_first.begin());
    std::vector<std::uint32_t> at(m_first.begin(), m_first.end() - 1);
    m_arcs.resize(2 * m_edges.size());
    for (const Edge &edge : m_edges) {
        const std::uint32_t forth = at[edge.from]++;
        const std::uint32_t back = at[edge.to]++;
        m_arcs[forth] = {edge.to, back, edge.capacity};
        m_arcs[back] = {edge.from, forth, edge.back};
    }
}

namespace {

/// A largest flow from 16 bit to float32: what the one end can give is put on the graph at once and pushed on from the vertex that is furthest
/// from the other end (Goldberg and Tarjan 1988, highest labels first), so that what many nodes of a long chain give travels
/// together. Paths one by one are as long as the chain, which makes their time quadratic. What does not arrive goes back.
template <class Arc>
class CutFlow
{
public:
    using Term = TypeCut::Term;

    CutFlow(const std::vector<std::uint32_t> &first, std::vector<Arc> &arcs)
        : m_first(first)
        , m_arcs(arcs)
        , m_count(static_cast<std::uint32_t>(first.size() - 1))
        , m_excess(m_count, 0)
        , m_height(m_count, m_count)
        , m_next(m_count, 0)
        , m_levels(m_count + 1)
        , m_neighbours(m_count)
    {
    }

    void fill()
    {
        giveAll();
        sendTo(TypeCut::kFloat32);
        sendTo(TypeCut::kHalf);
    }

private:
    /// Fills the arcs away from 16 bit, those that must not be cut with no more than all others together can carry.
    void giveAll()
    {
        std::int64_t all = 1;
        for (const Arc &arc : m_arcs)
            all += arc.capacity < kNever ? arc.capacity : 0;
        for (std::uint32_t arc = m_first[TypeCut::kHalf]; arc < m_first[TypeCut::kHalf + 1]; ++arc)
            carry(arc, TypeCut::kHalf, std::min(m_arcs[arc].capacity, all));
    }

    void carry(std::uint32_t arc, Term from, std::int64_t flow)
    {
        m_arcs[arc].capacity -= flow;
        m_arcs[m_arcs[arc].twin].capacity += flow;
        m_excess[from] -= flow;
        m_excess[m_arcs[arc].to] += flow;
    }

    bool isEnd(Term vertex) const { return vertex == TypeCut::kHalf || vertex == TypeCut::kFloat32; }

    /// Sends on what vertices hold as far as that end can be reached.
    void sendTo(Term end)
    {
        measure(end);
        while (m_highest > 0) {
            Level &level = m_levels[m_highest];
            if (level.active.empty()) {
                --m_highest;
                continue;
            }
            const Term at = level.active.back();
            level.active.pop_back();
            if (m_height[at] == m_highest && m_excess[at] > 0)
                discharge(at);
            if (m_lifted >= m_count) {
                measure(end);
                m_lifted = 0;
            }
        }
    }

    /// Heights are distances to the end over arcs that can carry more; `m_count` where it is out of reach.
    void measure(Term end)
    {
        for (std::uint32_t height = 0; height <= m_top; ++height)
            m_levels[height] = {};
        m_top = m_highest = 0;
        m_height.assign(m_count, m_count);
        std::copy_n(m_first.begin(), m_count, m_next.begin());
        m_height[end] = 0;
        m_reached.assign(1, end);
        for (std::size_t k = 0; k < m_reached.size(); ++k) {
            const Term at = m_reached[k];
            for (std::uint32_t arc = m_first[at]; arc < m_first[at + 1]; ++arc) {
                const Term from = m_arcs[arc].to;
                if (isEnd(from) || m_height[from] < m_count || m_arcs[m_arcs[arc].twin].capacity == 0)
                    continue;
                enter(from, m_height[at] + 1);
                m_reached.push_back(from);
                activate(from);
            }
        }
    }

    void activate(Term vertex)
    {
        const std::uint32_t height = m_height[vertex];
        if (isEnd(vertex) || height >= m_count || m_excess[vertex] <= 0)
            return;
        m_levels[height].active.push_back(vertex);
        m_highest = std::max(m_highest, height);
    }

    /// Among the vertices of that height.
    void enter(Term vertex, std::uint32_t height)
    {
        m_height[vertex] = height;
        m_top = std::max(m_top, height);
        Term &first = m_levels[height].first;
        m_neighbours[vertex] = {kNone, first};
        if (first != kNone)
            m_neighbours[first].before = vertex;
        first = vertex;
    }

    void leave(Term vertex)
    {
        const Neighbours &own = m_neighbours[vertex];
        if (own.before == kNone)
            m_levels[m_height[vertex]].first = own.behind;
        else
            m_neighbours[own.before].behind = own.behind;
        if (own.behind != kNone)
            m_neighbours[own.behind].before = own.before;
    }

    void discharge(Term at)
    {
        while (m_excess[at] > 0 && m_height[at] < m_count) {
            std::uint32_t &arc = m_next[at];
            for (; arc < m_first[at + 1]; ++arc) {
                const Term to = m_arcs[arc].to;
                if (m_arcs[arc].capacity == 0 || m_height[at] != m_height[to] + 1)
                    continue;
                const bool wasEmpty = m_excess[to] <= 0;
                carry(arc, at, std::min(m_excess[at], m_arcs[arc].capacity));
                if (wasEmpty)
                    activate(to);
                if (m_excess[at] == 0)
                    return;
            }
            lift(at);
        }
    }

    /// To one more than its lowest neighbour that it can send to.
    void lift(Term at)
    {
        const std::uint32_t before = m_height[at];
        std::uint32_t height = m_count;
        for (std::uint32_t arc = m_first[at]; arc < m_first[at + 1]; ++arc)
            if (m_arcs[arc].capacity > 0)
                height = std::min(height, m_height[m_arcs[arc].to] + 1);
        ++m_lifted;
        m_next[at] = m_first[at];
        leave(at);
        m_height[at] = m_count;
        if (height < m_count)
            enter(at, height);
        if (m_levels[before].first == kNone)
            cutOff(before);
    }

    /// What lies above a height that no vertex has any more cannot reach the end.
    void cutOff(std::uint32_t empty)
    {
        for (std::uint32_t height = empty + 1; height <= m_top; ++height) {
            for (Term vertex = m_levels[height].first; vertex != kNone; vertex = m_neighbours[vertex].behind)
                m_height[vertex] = m_count;
            m_levels[height] = {};
        }
        m_top = empty;
        m_highest = std::min(m_highest, m_top);
    }

    static constexpr Term kNone = std::numeric_limits<Term>::max();
    struct Level
    {
        Term first = kNone; ///< of the vertices of that height
        std::vector<Term> active{}; ///< those of them with an excess
    };
    struct Neighbours
    {
        Term before = kNone;
        Term behind = kNone;
    };

    const std::vector<std::uint32_t> &m_first;
    std::vector<Arc> &m_arcs;
    std::uint32_t m_count; ///< of vertices
    std::vector<std::int64_t> m_excess; ///< what has come and not gone on
    std::vector<std::uint32_t> m_height;
    std::vector<std::uint32_t> m_next; ///< by vertex: the arc to look at
    std::vector<Level> m_levels; ///< by height
    std::vector<Neighbours> m_neighbours; ///< by vertex: others of its height
    std::vector<Term> m_reached; ///< scratch
    std::uint32_t m_top = 0; ///< no vertex below m_count is higher
    std::uint32_t m_highest = 0; ///< nor one with an excess than this
    std::uint32_t m_lifted = 0; ///< so many times since heights were measured
};

} // namespace

/// Vertices that end up 16 bit. Arcs with capacity that is left must not lead from these to others: then the cut is a smallest one.
/// growing  from all that has to be and all nodes that are 16 bit now or prefer it, what these lead to becomes so too; else what
///          leads to float32 becomes float32
std::vector<bool> TypeCut::halves(bool growing) const
{
    std::vector<bool> isTaken(m_vertices, false);
    std::vector<Term> reached;
    const auto take = [&](Term vertex) {
        if (!isTaken[vertex])
            reached.push_back(vertex);
        isTaken[vertex] = true;
    };
    const auto spread = [&](bool forward) {
        while (!reached.empty()) {
            const Term at = reached.back();
            reached.pop_back();
            for (std::uint32_t arc = m_first[at]; arc < m_first[at + 1]; ++arc)
                if (m_arcs[forward ? arc : m_arcs[arc].twin].capacity > 0)
                    take(m_arcs[arc].to);
        }
    };
    // What the other end has for certain is not to be taken.
    take(growing ? kFloat32 : kHalf);
    spread(!growing);
    const std::vector<bool> isFixed = std::exchange(isTaken, std::vector<bool>(m_vertices, false));
    take(growing ? kHalf : kFloat32);
    for (const Node &node : m_nodes)
        if ((node.isHalf == growing || (growing && node.prefersHalf)) && !isFixed[node.term])
            take(node.term);
    spread(growing);
    if (!growing)
        isTaken.flip();
    return isTaken;
}

std::vector<bool> TypeCut::solve()
{
    layOut();
    CutFlow(m_first, m_arcs).fill();
    const bool isPreferred = std::ranges::any_of(m_nodes, &Node::prefersHalf);
    std::vector<bool> best;
    std::ptrdiff_t fewest = std::numeric_limits<std::ptrdiff_t>::max();
    for (const bool growing : {true, false}) {
        if (isPreferred && !growing)
            break; // 16 bit as far as it goes
        const std::vector<bool> half = halves(growing);
        const auto changes = std::ranges::count_if(
            m_nodes, [&half](const Node &node) { return half[node.term] != node.isHalf; });
        if (std::exchange(fewest, std::min(fewest, changes)) <= changes)
            continue;
        best.clear();
        for (const Node &node : m_nodes)
            best.push_back(half[node.term]);
    }
    return best;
}

} // namespace halftone::mixed
