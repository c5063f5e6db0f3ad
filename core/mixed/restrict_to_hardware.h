#pragma once

#include "core/graph/graph.h"
#include "core/hardware/description.h"
#include "core/policy/assignment.h"

#include <string>
#include <vector>

namespace halftone::mixed {

/// Takes the target type away where a chip cannot use it (core/mixed/RULES.md, M-hardware): an operator of a unit that must not be
/// used in it is float32; one that only stores it, or emulates it, is not lowered for its own sake. What a person decided stays.
void restrictToHardware(const graph::Graph &graph, const hardware::Description &chip, tensor::DType target,
                        policy::Assignment &assignment);

/// Likewise for codes, by NodeId: "conv16 has no int8 conv unit", or nothing where the chip has it, be it emulated, or the node
/// needs no unit. For quantize::QuantizeOptions::refusals.
std::vector<std::string> refusalsOfCodes(const graph::Graph &graph, const hardware::Description &chip);

} // namespace halftone::mixed
