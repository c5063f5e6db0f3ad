#include "core/runtime/latency_plan.h"

#include "core/runtime/int8_ranges.h"
#include "core/runtime/simplify.h"

#ifdef HALFTONE_HAS_ONEDNN
#include "core/runtime/onednn/plan.h"
#endif

namespace halftone::runtime {

std::string_view nameOf(StepKind kind)
{
    switch (kind) {
    case StepKind::Cast:
        return "cast";
    case StepKind::Reorder:
        return "reorder";
    case StepKind::Compute:
        break;
    }
    return "compute";
}

Result<std::unique_ptr<LatencyPlan>> makeLatencyPlan(const graph::Model &model, const passes::TypeMap &types,
                                                     const passes::ShapeMap &shapes,
                                                     const PlanOptions &options)
{
#ifdef HALFTONE_HAS_ONEDNN
    PlanOptions complete = options;
    if (!complete.cache)
        complete.cache = std::make_shared<PlanCache>();
    complete.cache->beginPlan();
    HALFTONE_TRY(PlanGraph graph, buildPlanGraph(model, types, shapes));
    settleRanges(graph);
    HALFTONE_CHECK(simplify(graph, complete.fallback, *complete.cache));
    return onednn::makePlan(std::move(graph), complete);
#else
    (void)model, (void)types, (void)shapes, (void)options;
    return unsupported("backend cpu", "this build has no oneDNN", "a build with HALFTONE_ONEDNN");
#endif
}

} // namespace halftone::runtime
