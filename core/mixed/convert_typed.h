#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/infer/variables.h"
#include "core/mixed/cast_problem.h"
#include "core/mixed/typed_settings.h"
#include "core/rewrite/conversion.h"

#include <span>
#include <unordered_map>
#include <vector>

namespace halftone::mixed {

/// Mixed-precision conversion by type inference: a cast only where types really differ, one for each tensor and type,
/// none for what can be stored in the right type (core/mixed/RULES.md, section 3; policies: decideTypes()). Linear in
/// nodes and edges but for nested bodies; nodes that no head needs are left out.
///
/// needs  a decision in `assignment` and an entry in `variables` for every node of `source`
/// keeps  names, attributes and relative order of the nodes, types of heads; float64 and integers everywhere
/// casts  `<node>_<output>_amp_cast_<dtype>`, of variables `<name>_0_amp_cast_<dtype>`; "_1", "_2", … behind a taken name
/// stored constants that nodes hold, like parameters
/// marked parameters in the target type, and those that are cast, say their type in `__dtype__`; an excluded parameter stays as it is
/// folds  casts of the source: each reader gets anew what it needs, so that converting twice changes nothing
/// bodies of control flow are converted with the graph around them; what they read, carry and give changes its type where that saves casts
/// fails  BadInput for a graph that is ill-typed itself; Cancelled
Result<rewrite::Conversion> convertTyped(const graph::Graph &source, const policy::Assignment &assignment,
                                         std::span<const infer::Variable> variables,
                                         const TypedSettings &settings, const Progress &progress = {});

/// By graph of the nest and NodeId: which nodes read or give the target type after convertTyped(). fails: as it does
Result<std::unordered_map<const graph::Graph *, std::vector<bool>>>
typedLowered(const graph::Graph &source, const policy::Assignment &assignment,
             std::span<const infer::Variable> variables, const TypedSettings &settings,
             const Progress &progress = {});

/// The choices that convertTyped() has, and what they cost. fails: as it does
Result<CastProblem> typedChoices(const graph::Graph &source, const policy::Assignment &assignment,
                                 std::span<const infer::Variable> variables, const TypedSettings &settings,
                                 const Progress &progress = {});

} // namespace halftone::mixed
