#pragma once

#include "core/rewrite/rewrite.h"

namespace halftone::rewrite {

/// Nodes that call a function give way to the nodes of its body, in bodies of control flow too. These bear the name of the
/// call before their own, and so do their values; what bodies of control flow in it define is named apart already. The graph becomes one of the newest version that any body is of.
///
/// fails  Unsupported for an operator that has no counterpart in that version
Result<Rewritten> inlineCalls(const graph::Model &model, const Progress &progress);

} // namespace halftone::rewrite
