#pragma once

#include "core/graph/model.h"
#include "core/infer/infer_shapes.h"
#include "core/infer/type_map.h"
#include "core/ops/operator.h"
#include "core/tensor/tensor.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::infer {

/// What a run of a model told of one node.
struct TracedNode
{
    std::optional<ops::Operator> op; ///< nothing: the node was not run
    std::vector<tensor::Tensor>
        constants; ///< its outputs, if they hang on nothing that is fed but its shapes; else empty
};

/// A model in which every type and shape that its heads need is known, so that a plan can be made of it and told about
/// beforehand.
struct TypedModel
{
    graph::Model model;
    TypeMap types;
    ShapeMap shapes;
    /// By NodeId, where operators are what inputs' values say (Dialect::readWith) and the model was run for that; else empty.
    std::vector<TracedNode> traced{};
    /// By name of a variable, what it was run on, and is to be timed on; of others nothing is known.
    std::unordered_map<std::string, tensor::Tensor> fed{};
    bool isForFedValues
        = false; ///< an operator or a size in `traced` depends on the values of inputs, not only on their shapes
};

} // namespace halftone::infer
