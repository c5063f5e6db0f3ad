#include "core/profile/typed_model.h"

#include "core/passes/infer_types.h"
#include "core/passes/inline_fused.h"
#include "core/passes/variables.h"
#include "core/profile/latency.h"

#include <utility>

namespace halftone::profile {

Result<TypedModel> typedModel(graph::Model model, const std::unordered_map<std::string, tensor::Shape> &known,
                              const policy::Policy &policy)
{
    TypedModel typed{std::move(model), {}, {}};
    typed.model.graph = passes::inlineFused(typed.model.graph);
    HALFTONE_TRY(typed.shapes, passes::inferShapes(typed.model.graph, known));
    std::vector<policy::Warning> warnings;
    HALFTONE_TRY(const std::vector<passes::Variable> variables,
                 passes::classifyVariables(typed.model, policy, warnings));
    std::vector<tensor::DType> types;
    for (const passes::Variable &variable : variables)
        types.push_back(variable.type);
    HALFTONE_TRY(typed.types, passes::inferTypes(typed.model.graph, types));
    return typed;
}

Result<std::unique_ptr<runtime::LatencyPlan>> measurablePlan(const TypedModel &typed,
                                                             const runtime::PlanOptions &options)
{
    HALFTONE_TRY(std::unique_ptr<runtime::LatencyPlan> plan,
                 runtime::makeLatencyPlan(typed.model, typed.types, typed.shapes, options));
    fillInputs(*plan, 1);
    return plan;
}

std::vector<EmulatedLayers> emulatedLayers(const TypedModel &typed, const runtime::BackendInfo &backend)
{
    std::vector<EmulatedLayers> emulated;
    for (const auto &[type, support] : backend.dtypes) {
        if (support != runtime::Support::Emulated)
            continue;
        std::size_t count = 0;
        for (graph::NodeId id = 0; id < typed.model.graph.nodeCount(); ++id) {
            const auto outputs = typed.types.outputs(id);
            count += !typed.model.graph.isVariable(id) && !outputs.empty() && outputs[0] == type ? 1 : 0;
        }
        if (count > 0)
            emulated.push_back({type, count});
    }
    return emulated;
}

} // namespace halftone::profile
