#pragma once

#include "core/graph/graph.h"
#include "core/tensor/tensor.h"

#include <cstddef>
#include <vector>

namespace halftone::graph {

/// A graph with its weights. Cheap to copy: nodes and tensors are shared.
struct Model
{
    Graph graph;
    std::vector<tensor::Array> parameters; ///< in file order; empty when loaded without
    bool hasParameters = false; ///< false: loaded without a parameter file (an empty file is a file)
};

inline std::size_t parameterBytes(const Model &model)
{
    std::size_t bytes = 0;
    for (const tensor::Array &array : model.parameters)
        bytes += array.values.storedBytes();
    return bytes;
}

} // namespace halftone::graph
