#pragma once

#include "core/graph/graph.h"
#include "tests/support/typed/random.h"

#include <span>
#include <vector>

namespace halftone::test {

/// The graph with only those nodes, in that order. Needs: a topological order that holds whatever a node in it needs.
graph::Graph reordered(const graph::Graph &graph, std::span<const graph::NodeId> order);
/// The graph without the nodes that no head needs, in depth-first order.
graph::Graph pruned(const graph::Graph &graph);
/// The same graph with its nodes in another topological order.
graph::Graph permuted(const graph::Graph &graph, Random &random);

} // namespace halftone::test
