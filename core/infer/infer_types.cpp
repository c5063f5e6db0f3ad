#include "core/infer/infer_types.h"

#include "core/infer/type_walk.h"

namespace halftone::infer {

Result<TypeMap> inferTypes(const graph::Graph &graph, std::span<const tensor::DType> variables)
{
    return walkTypes(graph, {variables, {}}, 0);
}

} // namespace halftone::infer
