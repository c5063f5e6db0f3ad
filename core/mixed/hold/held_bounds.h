#pragma once

#include "core/graph/graph.h"
#include "core/rewrite/conversion.h"

#include <span>
#include <vector>

/// Small positive constants that keep a value away from 0, the epsilons: as 0 they would let the division behind them give NaN
/// (core/mixed/RULES.md, M-bounds).
namespace halftone::mixed {

/// By NodeId: a variable or a constant that some operator, also of a body, reads as a lower bound, a summand, a divisor or in the place
/// of a value.
std::vector<bool> findBounds(const graph::Graph &graph);

/// By NodeId: the 16-bit type that a cast makes of a variable or constant, also in a body that is handed it; Unknown: none does.
std::vector<tensor::DType> narrowedTypes(const graph::Graph &source, const rewrite::Conversion &conversion);

/// The same of what the converted bodies of a graph are handed, added to `types`.
void addNarrowedInBodies(const graph::Graph &source, std::span<const rewrite::ConvertedBody> bodies,
                         std::vector<tensor::DType> &types);

} // namespace halftone::mixed
