#include "widgets/models/source_types.h"

#include "core/infer/infer_types.h"
#include "core/infer/variables.h"

#include <algorithm>

namespace halftone::widgets {

infer::TypeMap sourceTypes(const session::Snapshot &snapshot)
{
    const graph::Graph &graph = snapshot.graph();
    std::vector<policy::Warning> told;
    std::vector<tensor::DType> types(graph.nodeCount(), tensor::DType::Unknown);
    const auto variables = infer::classifyVariables(snapshot.source->model, *snapshot.policy, told);
    if (variables.ok())
        std::ranges::transform(variables.value(), types.begin(), &infer::Variable::type);
    auto inferred = infer::inferTypes(graph, types);
    if (inferred.ok())
        return std::move(inferred).value();
    infer::TypeMap unknown;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        unknown.append(tensor::DType::Unknown);
    return unknown;
}

} // namespace halftone::widgets
