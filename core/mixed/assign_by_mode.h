#pragma once

#include "core/graph/graph.h"
#include "core/policy/assignment.h"

#include <vector>

namespace halftone::mixed {

/// Mode tvm: TVM's class of every operator in place of what the built-in lists say of it (core/mixed/RULES.md, M-tvm-classes). What a person
/// decided stays. Warns of operators that TVM registers nothing for, one warning an operator, with how many nodes there are.
void assignByTvm(const graph::Graph &graph, policy::Assignment &assignment,
                 std::vector<policy::Warning> &warnings);

/// Mode all: every operator that the format knows is asked for the target type; what a person decided stays (M-all).
void assignEverything(const graph::Graph &graph, policy::Assignment &assignment);

} // namespace halftone::mixed
