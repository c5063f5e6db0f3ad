#include "core/infer/infer_shapes.h"

#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/infer/shape_walk.h"

namespace halftone::infer {
namespace {

using tensor::Shape;

/// `given`, with what it leaves open taken from `written`.
Shape completed(Shape given, const Shape &written)
{
    if (!given.hasRank())
        return written;
    for (std::size_t axis = 0; written.rank() == given.rank() && axis < given.rank(); ++axis) {
        if (given[axis] < 0)
            given[axis] = written[axis];
    }
    return given;
}

} // namespace

Result<ShapeMap> inferShapes(const graph::Graph &graph, const KnownShapes &known)
{
    std::vector<Shape> variables(graph.nodeCount());
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id))
            continue;
        const auto given = known.find(graph.node(id).name);
        const Shape written = dialect::of(graph).declaredShape(graph, graph.node(id));
        variables[id] = given == known.end() ? written : completed(given->second, written);
    }
    return walkShapes(graph, variables, 0);
}

ShapeMap unknownShapes(const graph::Graph &graph)
{
    ShapeMap shapes;
    for (const std::uint32_t outputs : graph::referencedOutputs(graph))
        shapes.byNode.emplace_back(outputs);
    return shapes;
}

} // namespace halftone::infer
