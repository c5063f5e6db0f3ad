#pragma once

#include "core/graph/graph.h"
#include "core/policy/assignment.h"

namespace halftone::mixed {

/// Nodes that belong to an operator of an older version are asked for what it is asked for (core/mixed/RULES.md, M-raised).
void tieRaised(const graph::Graph &graph, policy::Assignment &assignment);

} // namespace halftone::mixed
