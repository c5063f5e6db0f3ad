#include "core/passes/infer_shapes.h"

#include "core/dialect/mxnet/attribute_text.h"
#include "core/graph/traverse.h"
#include "core/passes/shape_walk.h"

#include <algorithm>

namespace halftone::passes {
namespace {

using tensor::Shape;

/// MXNet 1.x writes 0 for an unknown dimension and () for an unknown rank; np shapes have -1 and None.
bool hasNumpyShapes(const graph::Graph &graph)
{
    const std::string *flag = graph.metadata().find("is_np_shape");
    return flag != nullptr && flag->find('1') != std::string::npos;
}

/// What a variable says of itself. The key is free text to MXNet, so a text that is no shape says nothing.
Shape writtenShape(const graph::NodeDef &variable, bool numpyShapes)
{
    const std::string *text = variable.attributes.find("__shape__");
    if (text == nullptr)
        return {};
    auto dims = dialect::mxnet::readTuple(*text);
    if (!dims.ok() || (!numpyShapes && dims.value().empty()))
        return {};
    std::vector<std::int64_t> values = std::move(dims).value();
    std::ranges::replace_if(
        values, [numpyShapes](std::int64_t dim) { return dim < (numpyShapes ? 0 : 1); }, Shape::kUnknown);
    return Shape(std::move(values));
}

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

Result<ShapeMap> inferShapes(const graph::Graph &graph, const std::unordered_map<std::string, Shape> &known)
{
    const bool numpyShapes = hasNumpyShapes(graph);
    std::vector<Shape> variables(graph.nodeCount());
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id))
            continue;
        const auto given = known.find(graph.node(id).name);
        const Shape written = writtenShape(graph.node(id), numpyShapes);
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

} // namespace halftone::passes
