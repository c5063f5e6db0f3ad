#pragma once

#include "core/mixed/convert_typed.h"
#include "core/mixed/typed_builder.h"
#include "core/mixed/typed_plan.h"

namespace halftone::mixed {

struct ConvertedBodies
{
    NewBodies definitions; ///< the control flow nodes with their new bodies
    std::vector<rewrite::ConvertedBody> log;
};

/// Converts the bodies of the control flow nodes in `plan` that are not asked to compute in float32, each as a graph of its own whose heads keep their types. What
/// all bodies of a node read in the target type only, and no loop carries from step to step, is handed in so: `plan`'s
/// reads say it, and the cast stands outside of the loop or vanishes into storage.
/// fails: what convertTyped() and bindBodies() refuse.
Result<ConvertedBodies> convertBodies(const graph::Graph &source, const policy::Assignment &assignment,
                                      const TypedSettings &settings, const Progress &progress,
                                      TypedPlan &plan);

} // namespace halftone::mixed
