#pragma once

#include "core/plan/plan_graph.h"

namespace halftone::plan {

/// The ends of a calibrated range are known before anything runs: they become constants, and with them the scales of
/// whoever reads the codes. Operators that pass a range on are followed. What is not calibrated stays to be computed.
void settleRanges(PlanGraph &graph);

/// Parts of a concatenation that are coded right before it are coded in its range, so that they need only be copied.
/// They are cut to their own range as before. Needs: settled ranges
void shareRanges(PlanGraph &graph);

} // namespace halftone::plan
