#pragma once

#include "core/graph/graph.h"

#include <string>

namespace halftone::test {

/// What tells two graphs apart, in one line; empty when they have the same nodes (operator, name, attributes,
/// inputs, number of subgraphs) and the same heads. Order of nodes does not count. Nodes are matched by name,
/// those of one name also by operator.
std::string difference(const graph::Graph &got, const graph::Graph &want);

} // namespace halftone::test
