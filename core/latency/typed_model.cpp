#include "core/latency/typed_model.h"

#include "core/infer/known_shapes.h"
#include "core/infer/stored_types.h"
#include "core/latency/trace.h"
#include "core/rewrite/inline_fused.h"

#include <utility>

namespace halftone::latency {

Result<infer::TypedModel> typedModel(graph::Model model, const infer::KnownShapes &known,
                                     const policy::Policy &policy, const Progress &progress,
                                     const GivenInputs &given, const interpret::RunLimits &limits,
                                     rewrite::InlinedCalls calls)
{
    infer::TypedModel typed{std::move(model), {}, {}, {}, {}};
    typed.model.graph = rewrite::inlineFused(typed.model.graph);
    // Where an operator is not known in the version of the functions, a plan says that it has no place for the call.
    if (auto inlined = rewrite::inlineCalls(typed.model, calls, progress); inlined.ok())
        typed.model = std::move(inlined).value().model;
    else if (inlined.error().code != Errc::Unsupported)
        return std::move(inlined).error();
    HALFTONE_TRY(typed.shapes,
                 infer::inferShapes(typed.model.graph, infer::withParameterShapes(known, typed.model)));
    HALFTONE_TRY(typed.types, infer::storedTypes(typed.model, policy));
    HALFTONE_CHECK(takeInputs(typed, given));
    if (needsTrace(typed))
        HALFTONE_CHECK(trace(typed, progress, limits));
    return typed;
}

rewrite::InlinedCalls callsInlinedFor(const backends::BackendInfo &backend)
{
    return backend.wholeModels ? rewrite::InlinedCalls::OfTheModel : rewrite::InlinedCalls::All;
}

std::vector<EmulatedLayers> emulatedLayers(const infer::TypedModel &typed,
                                           const backends::BackendInfo &backend)
{
    std::vector<EmulatedLayers> emulated;
    for (const auto &[type, support] : backend.dtypes) {
        if (support != kernels::Support::Emulated)
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

} // namespace halftone::latency
