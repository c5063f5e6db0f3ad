#pragma once

#include "core/graph/graph.h"
#include "core/tensor/tensor.h"

#include <string_view>
#include <vector>

namespace halftone::graph {

/// A network with its weights. Cheap to copy: nodes and tensors are shared.
struct Model
{
    Graph graph;
    std::vector<tensor::Array> parameters; ///< in file order; empty when loaded without
    bool hasParameters = false; ///< false: loaded without a parameter file (an empty file is a file)
};

/// The variable that an array of a parameter file belongs to: its name without "arg:" or "aux:".
constexpr std::string_view variableOf(std::string_view arrayName)
{
    return arrayName.starts_with("arg:") || arrayName.starts_with("aux:") ? arrayName.substr(4) : arrayName;
}

} // namespace halftone::graph
