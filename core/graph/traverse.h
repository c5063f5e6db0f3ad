#pragma once

#include "core/graph/graph.h"

#include <string_view>
#include <unordered_map>
#include <vector>

namespace halftone::graph {

/// The nodes that a head needs, depth first, inputs left to right, then control dependencies, each after what
/// it needs: the order in which MXNet visits a symbol, and on which decisions of its conversion depend.
/// Iterative: depth costs heap, not stack.
std::vector<NodeId> postOrder(const Graph &graph);

/// For every node the number of outputs that some input or head refers to (highest index + 1; at least 1).
std::vector<std::uint32_t> referencedOutputs(const Graph &graph);

/// By name; the names are the graph's own.
using NodesByName = std::unordered_map<std::string_view, NodeId>;
/// Of several operators of one name the first. Variables are apart, since one may be called as an operator is.
NodesByName operatorsByName(const Graph &graph);
NodesByName variablesByName(const Graph &graph);

} // namespace halftone::graph
