#pragma once

#include "core/graph/model.h"
#include "core/infer/infer_shapes.h"
#include "core/infer/type_map.h"

namespace halftone::infer {

/// A model in which every type and shape that its heads need is known, so that a plan can be made of it and told about
/// beforehand.
struct TypedModel
{
    graph::Model model;
    TypeMap types;
    ShapeMap shapes;
};

} // namespace halftone::infer
