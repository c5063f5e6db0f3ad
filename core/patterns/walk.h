#pragma once

#include "core/patterns/unit.h"

#include <array>
#include <optional>
#include <span>
#include <vector>

/// Inside of findUnits(): steps from value to value, and one recogniser a family.
namespace halftone::patterns {

/// scale · x + shift, by one operator.
struct Affine
{
    ValueIndex x = kNone;
    double scale = 1;
    double shift = 0;
};

/// c0 + c1 · x + c2 · x² + c3 · x³.
using Cubic = std::array<double, 4>;

/// Steps through a network. Casts, and operators that pass their input on, are no steps.
class Walk
{
public:
    explicit Walk(const Network &network)
        : m_network(network)
    {
    }

    const Network &network() const { return m_network; }
    const ops::Operator &op(NodeIndex node) const { return m_network.nodes[node].op; }
    std::span<const ValueIndex> inputs(NodeIndex node) const { return m_network.nodes[node].inputs; }
    ValueIndex result(NodeIndex node) const { return m_network.nodes[node].outputs.front(); }

    /// Does the node pass its input on, but for its type?
    bool passes(NodeIndex node) const;
    /// Where `value` comes from.
    ValueIndex root(ValueIndex value) const;
    bool isSame(ValueIndex a, ValueIndex b) const { return root(a) == root(b); }
    bool isFixed(ValueIndex value) const { return m_network.values[root(value)].isFixed; }
    std::optional<double> scalar(ValueIndex value) const { return m_network.values[root(value)].scalar; }
    /// The node that computes it; kNone for others than first outputs.
    NodeIndex producer(ValueIndex value) const;
    /// Who reads it, behind casts, each once; the first few where they are many.
    std::vector<NodeIndex> readers(ValueIndex value) const;

    /// What a call computes; null for another node.
    const CallFacts *call(NodeIndex node) const
    {
        const auto &facts = m_network.nodes[node].call;
        return facts ? &*facts : nullptr;
    }
    /// Does it multiply its first input with a matrix?
    bool isProduct(NodeIndex node) const;
    /// Is it an attention as one operator, or a call that computes one?
    bool isAttention(NodeIndex node) const;

    bool isBinary(NodeIndex node, ops::BinaryKind kind) const;
    bool isUnary(NodeIndex node, ops::UnaryKind kind) const;
    /// Of a node that reads `value` as one of two: the other one; kNone where there is none.
    ValueIndex other(NodeIndex node, ValueIndex value) const;

    std::optional<Affine> affine(NodeIndex node) const;
    /// The exponent where the node is a power with a constant one; a square and roots are powers, too.
    std::optional<double> exponent(NodeIndex node) const;
    /// `value` as a polynomial of `x`; the nodes on the way are added to `nodes`.
    std::optional<Cubic> cubic(ValueIndex value, ValueIndex x, std::vector<NodeIndex> &nodes) const;
    /// A reduction with the axes kept; null for another one.
    const ops::Reduce *reduction(NodeIndex node, ops::Reduce::Kind kind) const;

private:
    std::optional<Cubic> cubicOf(ValueIndex value, ValueIndex x, int depth,
                                 std::vector<NodeIndex> &nodes) const;

    const Network &m_network;
};

/// The unit that node `anchor` is the heart of.
std::optional<Unit> findNorm(const Walk &walk, NodeIndex anchor);
std::optional<Unit> findSoftmax(const Walk &walk, NodeIndex anchor);
std::optional<Unit> findActivation(const Walk &walk, NodeIndex anchor);
std::optional<Unit> findRotary(const Walk &walk, NodeIndex anchor);
/// A norm or rotary embedding that is one node.
std::optional<Unit> findOperator(const Walk &walk, NodeIndex anchor);

/// Units by the node that computes their output.
class UnitIndex
{
public:
    UnitIndex(const std::vector<Unit> &units, const Network &network);
    /// Null where `node` is the last of none.
    const Unit *endingAt(NodeIndex node) const;

private:
    const std::vector<Unit> &m_units;
    std::vector<std::uint32_t> m_last; ///< by NodeIndex: place in m_units; kNone
};

std::optional<Unit> findAttention(const Walk &walk, const UnitIndex &inner, NodeIndex anchor);
std::optional<Unit> findMlp(const Walk &walk, const UnitIndex &inner, NodeIndex anchor);
std::optional<Unit> findGatedMlp(const Walk &walk, const UnitIndex &inner, NodeIndex anchor);

/// Casts between nodes of the unit join it, its nodes are put in order, and it is seen whether it is closed.
void complete(Unit &unit, const Walk &walk);

} // namespace halftone::patterns
