#include "core/passes/infer_types.h"

#include "core/passes/type_walk.h"

namespace halftone::passes {

Result<TypeMap> inferTypes(const graph::Graph &graph, std::span<const tensor::DType> variables)
{
    return walkTypes(graph, {variables, {}}, 0);
}

} // namespace halftone::passes
