#pragma once

#include "core/plan/plan_graph.h"

namespace halftone::backends::cuda {

/// Products of one tensor with constant weights, whose results are the queries, keys and values of attention and nothing else, become
/// one product: its result has them side by side in each row. Needs: attention as ops::RowAttention, post-operations fused
void shareProducts(plan::PlanGraph &graph);

} // namespace halftone::backends::cuda
