#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/infer/type_map.h"

#include <span>

namespace halftone::infer {

/// The types that follow when the variables have these, and data whatever fits. Data of which nothing follows are tried in each
/// type that a network may be fed with (float32, float16, bfloat16), one after the other; and all are where what follows
/// contradicts itself, since it may be a guess (of a softmax: the type that it gives).
/// variables  by NodeId; Unknown for data
/// fails      as inferTypes(), where nothing fits
Result<TypeMap> inferDataTypes(const graph::Graph &graph, std::span<const graph::NodeId> data,
                               std::span<const tensor::DType> variables);

} // namespace halftone::infer
