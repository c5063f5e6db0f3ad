#pragma once

#include "core/infer/typed_model.h"
#include "core/kernels/latency_plan.h"
#include "core/runtimes/record.h"

#include <vector>

namespace halftone::runtimes {

/// The steps of a plan: a row each, with the nodes of the model that it stands for. In the order of execution, a row covers all nodes that its
/// own one needs and that no earlier row has; nodes after the last row belong to that of the nearest one before them. A row that
/// NodeNames knows no node for is StepKind::Runtime, or Cast or Reorder if that is its work.
std::vector<kernels::PlanStep> stepsOf(const infer::TypedModel &model, const std::vector<RecordedRow> &rows);

/// The type that the model says for a node: that of its data input, and of its codes where these are decoded right before it.
tensor::DType askedType(const infer::TypedModel &model, graph::NodeId node);

} // namespace halftone::runtimes
