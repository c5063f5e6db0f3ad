#pragma once

#include "core/mixed/typed_plan.h"

namespace halftone::mixed {

/// Finds what stands for what: casts for what they cast and, when `share`, nodes for an equal one that comes earlier and is asked
/// for the same (core/mixed/RULES.md, M-typed-folded). Fills in value, foldedCasts and merged, and takes out of `order` what no
/// head needs any more. Needs: `order` is the whole graph's, and parts, firstOutput and original are there.
void resolveValues(const graph::Graph &source, const infer::NodeTypes &rules,
                   const policy::Assignment &assignment, bool share, TypedPlan &plan);

} // namespace halftone::mixed
