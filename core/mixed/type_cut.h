#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace halftone::mixed {

/// Gives each of some nodes one of two types, 16 bit or float32, so that the fewest tensors have to be cast: a minimum cut
/// between what is 16 bit and what is float32 (a largest flow: Goldberg and Tarjan 1988). Where the types that are there need no
/// more casts than any others they stay; else those that are as good either way stay if they can. Where some node prefers 16 bit, as
/// many of those have it as can without more casts, and the others are as before. The order of nodes does not show.
class TypeCut
{
public:
    using Term = std::uint32_t;
    static constexpr Term kHalf = 0; ///< is 16 bit
    static constexpr Term kFloat32 = 1; ///< is float32

    TypeCut();
    /// A node that may have either type and has one now. Nodes that are added before any tensor are the terms 2, 3, …
    /// prefersHalf  it is 16 bit wherever that costs nothing
    Term addNode(bool isHalf, bool prefersHalf = false);
    /// What the types of `node` cost by themselves. Needs: neither below 0, all costs together below 2^60
    void addCosts(Term node, std::int64_t half, std::int64_t float32);
    /// A tensor that comes as `producer` is and costs a cast when some reader is otherwise.
    void addTensor(Term producer, std::span<const Term> readers, std::int64_t cost = 1)
    {
        addTensor(producer, readers, cost, cost);
    }
    /// The same where the direction counts. widening  of 16 bit to float32; narrowing  the way back
    void addTensor(Term producer, std::span<const Term> readers, std::int64_t widening,
                   std::int64_t narrowing);
    /// Costs so much where `node` is 16 bit and `other` is not.
    void addCostBetween(Term node, Term other, std::int64_t cost);
    /// Where `node` is 16 bit, so must `other` be.
    void require(Term node, Term other);
    /// By node, in the order of adding: is it 16 bit now?
    std::vector<bool> solve();

private:
    /// Capacities in both directions.
    struct Edge
    {
        Term from;
        Term to;
        std::int64_t capacity;
        std::int64_t back;
    };
    struct Arc
    {
        Term to;
        std::uint32_t twin; ///< the arc backwards
        std::int64_t capacity; ///< that is left
    };
    struct Node
    {
        Term term;
        bool isHalf;
        bool prefersHalf;
    };

    Term addVertex() { return m_vertices++; }
    void connect(Term from, Term to, std::int64_t capacity, std::int64_t back = 0);
    void layOut();
    std::vector<bool> halves(bool growing) const;

    Term m_vertices = 0;
    std::vector<Edge> m_edges;
    std::vector<Node> m_nodes;
    std::vector<std::uint32_t> m_first; ///< by vertex, and one more: where its arcs begin
    std::vector<Arc> m_arcs; ///< those of a vertex side by side: they are gone through many times
};

} // namespace halftone::mixed
