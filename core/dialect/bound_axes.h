#pragma once

#include "core/graph/graph.h"

#include <optional>
#include <string>
#include <vector>

namespace halftone::dialect {

/// What a variable says of its axes that values fed to it must keep to: numbers, or names for what is the same wherever the name stands;
/// an empty text says nothing. Nothing where the format does not bind them.
std::optional<std::vector<std::string>> boundAxes(const graph::Graph &graph, const graph::NodeDef &variable);

} // namespace halftone::dialect
