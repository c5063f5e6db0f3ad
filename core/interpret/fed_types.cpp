#include "core/interpret/fed_types.h"

#include "core/dialect/dialect.h"

namespace halftone::interpret {

using tensor::DType;

DType declaredInputType(const graph::Graph &graph, const std::string &input)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        if (!graph.isVariable(id) || node.name != input)
            continue;
        if (!dialect::of(graph).declaresType(node) || dialect::of(graph).infersParameterTypes())
            return DType::Unknown;
        const auto declared = dialect::of(graph).declaredType(node);
        return declared.ok() ? declared.value() : DType::Unknown;
    }
    return DType::Unknown;
}

Result<void> checkFedType(const graph::Graph &graph, const std::string &input, DType type)
{
    const DType declared = declaredInputType(graph, input);
    if (declared == DType::Unknown || declared == type)
        return {};
    return badInput(input, "an array of " + std::string(tensor::nameOf(type)),
                    std::string(tensor::nameOf(declared)) + ", as declared by the model");
}

} // namespace halftone::interpret
