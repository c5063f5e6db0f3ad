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

/// How far each vertex is from 16 bit over arcs with capacity, as far as that matters: of those no nearer than float32 is, nothing is
/// said. false when float32 is out of reach.
bool TypeCut::findLevels()
{
    m_level.assign(m_vertices, -1);
    m_level[kHalf] = 0;
    m_reached.assign(1, kHalf);
    for (std::size_t k = 0; k < m_reached.size(); ++k) {
        const Term from = m_reached[k];
        const std::int32_t level = m_level[from] + 1;
        for (std::uint32_t arc = m_first[from]; arc < m_first[from + 1]; ++arc) {
            const Term to = m_arcs[arc].to;
            if (m_arcs[arc].capacity == 0 || m_level[to] >= 0)
                continue;
            m_level[to] = level;
            if (to == kFloat32)
                return true;
            m_reached.push_back(to);
        }
    }
    return false;
}

/// Fills shortest paths until none is left, from their end on: what does not lead there is not looked at. The path is kept by hand,
/// since chains may be longer than the stack is deep.
void TypeCut::block()
{
    std::vector<std::uint32_t> next = m_first;
    std::vector<std::uint32_t> path; // arcs against the flow
    Term at = kFloat32;
    while (true) {
        if (at == kHalf) {
            std::int64_t flow = kNever;
            for (const std::uint32_t arc : path)
                flow = std::min(flow, m_arcs[m_arcs[arc].twin].capacity);
            std::size_t full = path.size();
            for (std::size_t k = path.size(); k-- > 0;) {
                Arc &back = m_arcs[path[k]];
                Arc &forth = m_arcs[back.twin];
                forth.capacity -= flow;
                back.capacity += flow;
                full = forth.capacity == 0 ? k : full;
            }
            at = m_arcs[m_arcs[path[full]].twin].to;
            path.resize(full);
            continue;
        }
        std::uint32_t &arc = next[at];
        while (arc < m_first[at + 1]
               && (m_level[m_arcs[arc].to] != m_level[at] - 1 || m_arcs[m_arcs[arc].twin].capacity == 0))
            ++arc;
        if (arc < m_first[at + 1]) {
            path.push_back(arc);
            at = m_arcs[arc].to;
            continue;
        }
        if (path.empty())
            return;
        at = m_arcs[m_arcs[path.back()].twin].to;
        path.pop_back();
        ++next[at];
    }
}

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
    while (findLevels())
        block();
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
