#pragma once

#include "core/kernels/latency_plan.h"
#include "core/plan/plan_graph.h"

namespace halftone::backends::onednn {

/// A plan of a simplified graph on oneDNN's kernels.
/// threads   0: as many as there are cores
/// fallback  computes what oneDNN lacks; null: such an operator is an error
/// fails     Unsupported for an operator that neither computes, naming the node and both reasons
Result<std::unique_ptr<kernels::LatencyPlan>> makePlan(plan::PlanGraph graph,
                                                       const kernels::PlanOptions &options, int threads,
                                                       const kernels::Backend *fallback);

} // namespace halftone::backends::onednn
