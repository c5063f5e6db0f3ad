#pragma once

#include "core/backends/cuda/emitter.h"
#include "core/kernels/latency_plan.h"

#include <memory>
#include <span>

namespace halftone::backends::cuda {

/// A graph's plan on a device. What has no kernel there is computed by `fallback`, with copies there and back as steps of their own.
/// fallback  may be null: such operators are refused
/// fails     Unsupported for an operator that nobody computes; what Gpu's calls fail with
Result<std::unique_ptr<kernels::LatencyPlan>> makePlan(plan::PlanGraph graph, const std::shared_ptr<Gpu> &gpu,
                                                       EmitOptions options, const kernels::Backend *fallback);

} // namespace halftone::backends::cuda
