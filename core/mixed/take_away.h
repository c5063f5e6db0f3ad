#pragma once

#include "core/graph/graph.h"
#include "core/hardware/description.h"
#include "core/policy/assignment.h"

namespace halftone::mixed {

/// Takes the target type away where a chip cannot use it (core/mixed/RULES.md, M-hardware): an operator of a unit that must not be
/// used in it is float32; one that only stores it, or emulates it, is not lowered for its own sake. What a person decided stays.
void takeAway(const graph::Graph &graph, const hardware::Description &chip, tensor::DType target,
              policy::Assignment &assignment);

} // namespace halftone::mixed
