#include "core/mixed/type_cut.h"

#include <algorithm>
#include <cstddef>
#include <limits>
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

TypeCut::Term TypeCut::addVertex()
{
    m_first.push_back(kNone);
    return static_cast<Term>(m_first.size() - 1);
}

void TypeCut::addArc(Term from, Term to, std::int64_t capacity)
{
    m_arcs.push_back({to, m_first[from], capacity});
    m_first[from] = static_cast<std::uint32_t>(m_arcs.size() - 1);
}

void TypeCut::connect(Term from, Term to, std::int64_t capacity)
{
    if (from == to)
        return;
    addArc(from, to, capacity);
    addArc(to, from, 0);
}

TypeCut::Term TypeCut::addNode(bool isHalf, bool prefersHalf)
{
    const Term node = addVertex();
    m_nodes.push_back({node, isHalf, prefersHalf});
    return node;
}

/// In both directions with that capacity.
void TypeCut::join(Term one, Term other, std::int64_t capacity)
{
    if (one == other)
        return;
    addArc(one, other, capacity);
    addArc(other, one, capacity);
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

void TypeCut::addTensor(Term producer, std::span<const Term> readers, std::int64_t cost)
{
    if (cost <= 0)
        return;
    if (readers.size() == 1) // as most have
        return join(producer, readers[0], cost);
    const Term widened = addVertex(); // cut off when the producer is 16 bit and a reader is not
    const Term narrowed = addVertex();
    connect(producer, widened, cost);
    connect(narrowed, producer, cost);
    for (const Term reader : readers) {
        connect(widened, reader, kNever);
        connect(reader, narrowed, kNever);
    }
}

void TypeCut::require(Term node, Term other)
{
    connect(node, other, kNever);
}

/// How far each vertex is from float32 over arcs with capacity, as far as that matters: of those no nearer than 16 bit is, nothing is
/// said. false when 16 bit is out of reach.
bool TypeCut::findLevels()
{
    m_level.assign(m_first.size(), -1);
    m_level[kFloat32] = 0;
    m_reached.assign(1, kFloat32);
    for (std::size_t k = 0; k < m_reached.size(); ++k) {
        const std::int32_t level = m_level[m_reached[k]] + 1;
        for (std::uint32_t arc = m_first[m_reached[k]]; arc != kNone; arc = m_arcs[arc].next) {
            const Term from = m_arcs[arc].to;
            if (m_arcs[arc ^ 1U].capacity == 0 || m_level[from] >= 0)
                continue;
            m_level[from] = level;
            if (from == kHalf)
                return true;
            m_reached.push_back(from);
        }
    }
    return false;
}

/// Fills shortest paths until none is left. The path is kept by hand: chains may be longer than the stack is deep.
void TypeCut::block()
{
    std::vector<std::uint32_t> next = m_first;
    std::vector<std::uint32_t> path;
    Term at = kHalf;
    while (true) {
        if (at == kFloat32) {
            std::int64_t flow = kNever;
            for (const std::uint32_t arc : path)
                flow = std::min(flow, m_arcs[arc].capacity);
            std::size_t full = path.size();
            for (std::size_t k = path.size(); k-- > 0;) {
                m_arcs[path[k]].capacity -= flow;
                m_arcs[path[k] ^ 1U].capacity += flow;
                full = m_arcs[path[k]].capacity == 0 ? k : full;
            }
            at = m_arcs[path[full] ^ 1U].to;
            path.resize(full);
            continue;
        }
        bool isStuck = true;
        for (; next[at] != kNone; next[at] = m_arcs[next[at]].next) {
            const std::uint32_t arc = next[at];
            if (m_arcs[arc].capacity == 0 || m_level[m_arcs[arc].to] != m_level[at] - 1)
                continue;
            path.push_back(arc);
            at = m_arcs[arc].to;
            isStuck = false;
            break;
        }
        if (!isStuck)
            continue;
        if (path.empty())
            return;
        at = m_arcs[path.back() ^ 1U].to;
        path.pop_back();
        next[at] = m_arcs[next[at]].next;
    }
}

/// Vertices that end up 16 bit. Arcs with capacity that is left must not lead from these to others: then the cut is a smallest one.
/// growing  from all that has to be and all nodes that are 16 bit now or prefer it, what these lead to becomes so too; else what
///          leads to float32 becomes float32
std::vector<bool> TypeCut::halves(bool growing) const
{
    std::vector<bool> isTaken(m_first.size(), false);
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
            for (std::uint32_t arc = m_first[at]; arc != kNone; arc = m_arcs[arc].next)
                if (m_arcs[forward ? arc : arc ^ 1U].capacity > 0)
                    take(m_arcs[arc].to);
        }
    };
    // What the other end has for certain is not to be taken.
    take(growing ? kFloat32 : kHalf);
    spread(!growing);
    const std::vector<bool> isFixed = std::exchange(isTaken, std::vector<bool>(m_first.size(), false));
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
