#pragma once

#include "core/patterns/network.h"

#include <optional>

namespace halftone::patterns {

/// What the function computes that the node calls, by its body; absent for another node, and for a function that is none of these.
std::optional<CallFacts> callFacts(const graph::Graph &graph, graph::NodeId id);

} // namespace halftone::patterns
