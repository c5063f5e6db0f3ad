#pragma once

#include "core/graph/graph.h"

namespace halftone::dialect {

/// Is the node computed by a function, of the model or of its format? It runs its one body once.
bool isCall(const graph::Graph &graph, graph::NodeId id);

} // namespace halftone::dialect
