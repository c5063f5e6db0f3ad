#pragma once

#include "core/graph/graph.h"

#include <optional>
#include <string>
#include <vector>

namespace halftone::widgets {

/// A pattern "/^…$/" that matches exactly these operators of the model and no other: their names with numbers in place of each other, like
/// "layers.\d+.norm". Nothing if their names have no such form in common. For entries that may be patterns (policy::Policy::excludedNames, nodeOverrides).
std::optional<std::string> patternFor(const graph::Graph &graph, const std::vector<std::string> &names);

} // namespace halftone::widgets
