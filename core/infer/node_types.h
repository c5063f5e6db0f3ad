#pragma once

#include "core/dialect/op_info.h"
#include "core/graph/graph.h"
#include "core/tensor/dtype.h"

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace halftone::infer {

/// The type rules of one graph's nodes, looked up once an operator name. A node that holds bodies (control flow, fused
/// operators) is typed by them. Keeps a reference: the graph must outlive it. For one thread: it notes what it looked up.
class NodeTypes
{
public:
    /// What apply() says for the place of a contradiction inside a body.
    static constexpr std::size_t kInBody = std::numeric_limits<std::size_t>::max();

    /// `depth`: how many bodies the graph lies in.
    explicit NodeTypes(const graph::Graph &graph, int depth = 0);

    /// Null for a variable and for an unknown operator.
    const dialect::OpInfo *op(graph::NodeId id) const { return m_ops[m_graph.opOf(id)]; }
    bool isMutable(graph::NodeId id, std::size_t input) const;
    /// graph::referencedOutputs() of the node.
    std::uint32_t referencedOutputs(graph::NodeId id) const { return m_referenced[id]; }
    /// With hidden ones; at least as many as are referred to.
    std::uint32_t outputCount(graph::NodeId id) const;

    /// TypeRule::apply for this node; Incomplete, with nothing filled in, for a node without a rule. Of a node with bodies,
    /// which take its inputs' types for their variables', it is Complete when every type around the node is known, and
    /// Refused for a contradiction inside (`where`: kInBody). Quantized fused operators have rules of their own.
    ops::TypeOutcome apply(graph::NodeId id, std::span<tensor::DType> inputs,
                           std::span<tensor::DType> outputs, std::size_t *where = nullptr) const;

private:
    const graph::Graph &m_graph;
    int m_depth;
    std::vector<const dialect::OpInfo *> m_ops; ///< by OpIndex
    std::vector<std::uint32_t> m_referenced;
    mutable std::vector<std::uint32_t> m_outputs; ///< what outputCount() gave; 0: not asked yet
};

} // namespace halftone::infer
