#pragma once

#include "core/graph/graph.h"

#include <vector>

/// Small positive constants that keep a value away from 0, the epsilons: as 0 they would let the division behind them give NaN
/// (core/mixed/RULES.md, M-bounds).
namespace halftone::mixed {

/// By NodeId: a variable or a constant that some operator reads as a lower bound, a summand, a divisor or in the place of a value.
std::vector<bool> findBounds(const graph::Graph &graph);

} // namespace halftone::mixed
