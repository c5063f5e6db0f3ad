#pragma once

#include "core/graph/graph.h"
#include "core/tensor/dtype.h"

#include <functional>
#include <span>
#include <vector>

namespace halftone::dialect::onnx {

using ValueTypes = std::vector<std::vector<tensor::DType>>; ///< by NodeId and output

/// The element types of a graph's values as far as they follow from those before them; Unknown else. No contradiction is told.
/// captured  of what a body reads of the graph around it, by the number that its variables bear
/// held      of a parameter; Unknown: as the variable says
ValueTypes valueTypes(const graph::Graph &graph, std::span<const tensor::DType> captured,
                      const std::function<tensor::DType(const graph::NodeDef &variable)> &held);

} // namespace halftone::dialect::onnx
