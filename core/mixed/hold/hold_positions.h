#pragma once

#include "core/mixed/hold/position_paths.h"
#include "core/policy/assignment.h"
#include "core/rewrite/conversion.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::mixed {

/// Keeps operators in float32 that must not round positions, or the scales of Resize; of int8 too. What a person decided stays.
/// graph  the one that `map` was found for, or a body in it
/// what   begins the reason: "positions", "scales"
void holdPaths(const graph::Graph &graph, const PositionMap &map, std::string_view what,
               policy::Assignment &assignment);

/// Why nodes of the graph must not compute with codes, by NodeId, in the words of holdPaths(); empty where they may. For
/// quantize::QuantizeOptions::refusals.
std::vector<std::string> refusalsOfPositions(const graph::Graph &graph, const PositionMap &map);

/// Of operators that round positions all the same: a person wanted them so, or the mode (core/mixed/RULES.md, M-position).
std::optional<policy::Warning> loweredPositions(const graph::Graph &source, const PositionMap &map,
                                                const rewrite::Conversion &conversion);

} // namespace halftone::mixed
