#pragma once

#include "core/graph/graph.h"
#include "core/latency/latency.h"
#include "core/mixed/type_census.h"

namespace halftone::report {

/// Corrects a census of a model by what a runtime made of it: `computes` tells the types that its steps run in, and operators (casts are none) that run in
/// another type than the model asks for are further differences.
/// census   of `graph`
/// backend  what stands for the policy's entry in a difference
/// Needs: the plan is a runtime's.
void addRuntimeTypes(mixed::TypeCensus &census, const graph::Graph &graph, const kernels::LatencyPlan &plan,
                     const std::string &backend);

} // namespace halftone::report
