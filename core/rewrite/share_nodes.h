#pragma once

#include "core/rewrite/conversion.h"
#include "core/rewrite/rewrite.h"

namespace halftone::rewrite {

/// Common subexpression elimination: nodes of one operator with attributes of equal meaning that read the same tensors
/// in the same order become one, the first in depth-first order, so that chains collapse in one run
/// (core/mixed/RULES.md, M-share). Linear in nodes and edges.
///
/// keeps  variables, nodes without inputs, and operators that draw, keep state or write to an input
///        (dialect::OpInfo::mayMerge)
/// heads  two heads that a merge makes the same tensor stay two: the later one gets a `_copy` node, named
///        `<survivor>_<k>_copy`
/// notes  each name that vanished, and which node stands for it
Result<Rewritten> shareNodes(const graph::Model &model, const Progress &progress);

/// The same for a converted graph, which stays explained: its log tells what was merged.
void shareConverted(const graph::Graph &source, Conversion &conversion);

} // namespace halftone::rewrite
