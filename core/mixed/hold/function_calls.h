#pragma once

#include "core/graph/graph.h"
#include "core/policy/assignment.h"
#include "core/policy/rules.h"
#include "core/rewrite/conversion.h"

#include <optional>
#include <vector>

/// Calls: nodes that a function of the model computes, or one that operators of other domains are said by.
namespace halftone::mixed {

/// Of calls that stay in float32 although nothing asks for that, in bodies of control flow too: one warning for all of them
/// (core/mixed/RULES.md, M-calls).
std::optional<policy::Warning> keptCalls(const graph::Graph &source, const policy::Assignment &assignment,
                                         const rewrite::Conversion &conversion);

/// Of operators of other domains that a person's lists name and no node of the graph or its bodies is of: nobody knows whether
/// their names are written right.
void warnOfAbsent(const graph::Graph &graph, const policy::Rules &rules,
                  std::vector<policy::Warning> &warnings);

} // namespace halftone::mixed
