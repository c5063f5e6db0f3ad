#include "core/infer/known_shapes.h"

#include "core/dialect/dialect.h"

namespace halftone::infer {

KnownShapes withParameterShapes(KnownShapes known, const graph::Model &model)
{
    for (const tensor::Array &array : model.parameters)
        known.try_emplace(std::string(dialect::variableOf(model.graph, array.name)), array.shape);
    return known;
}

KnownShapes variableShapes(const graph::Graph &graph, const ShapeMap &shapes)
{
    KnownShapes known;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        if (graph.isVariable(id))
            known.emplace(graph.node(id).name, shapes.of({id, 0, 0}));
    return known;
}

} // namespace halftone::infer
