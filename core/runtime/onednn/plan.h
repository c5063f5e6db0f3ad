#pragma once

#include "core/runtime/latency_plan.h"

namespace halftone::runtime::onednn {

/// A plan of a simplified graph on oneDNN's kernels. What oneDNN lacks is computed by `options.fallback`.
/// fails  Unsupported for an operator that neither computes, naming the node and both reasons
Result<std::unique_ptr<LatencyPlan>> makePlan(PlanGraph graph, const PlanOptions &options);

} // namespace halftone::runtime::onednn
