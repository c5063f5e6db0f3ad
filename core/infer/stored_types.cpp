#include "core/infer/stored_types.h"

#include "core/dialect/dialect.h"
#include "core/infer/infer_types.h"
#include "core/infer/variables.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace halftone::infer {

Result<TypeMap> storedTypes(const graph::Model &model, const policy::Policy &policy)
{
    std::vector<policy::Warning> unheard;
    HALFTONE_TRY(const std::vector<Variable> variables, classifyVariables(model, policy, unheard));
    std::vector<tensor::DType> types;
    std::ranges::transform(variables, std::back_inserter(types), &Variable::type);
    return inferTypes(model.graph, types);
}

Result<TypeMap> storedTypes(const graph::Graph &graph,
                            const std::function<tensor::DType(graph::NodeId)> &heldType)
{
    std::vector<tensor::DType> types(graph.nodeCount());
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id))
            continue;
        HALFTONE_TRY(types[id], dialect::of(graph).declaredType(graph.node(id)));
        if (const tensor::DType held = heldType(id); held != tensor::DType::Unknown)
            types[id] = held;
    }
    return inferTypes(graph, types);
}

} // namespace halftone::infer
