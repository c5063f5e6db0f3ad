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

/// Mixed-precision conversion by type inference: inserts casts only where types differ, one per tensor and type, and none for values
/// that can be stored in the right type (core/mixed/RULES.md, section 3; policies: decideTypes()). Linear in nodes and edges except for
/// nested bodies. Nodes that no output needs are removed.
///
/// needs  a decision in `assignment` and an entry in `variables` for every node of `source`
/// keeps  names, attributes and relative order of nodes, types of outputs, float64 and integers
/// casts  `<node>_<output>_amp_cast_<dtype>`, of variables `<name>_0_amp_cast_<dtype>`; "_1", "_2", … for duplicate names
/// stored constants of nodes, like parameters
/// marked parameters in the target type, and cast ones, declare their type in `__dtype__`; excluded parameters are unchanged
/// folds  casts of the source: they are recomputed for each reader, so that converting twice changes nothing
/// bodies of control flow are converted with their enclosing graph; their inputs, states and outputs change type where that saves casts
/// fails  BadInput for an ill-typed source graph; Cancelled
Result<rewrite::Conversion> convertTyped(const graph::Graph &source, const policy::Assignment &assignment,
                                         std::span<const infer::Variable> variables,
                                         const TypedSettings &settings, const Progress &progress = {});

/// By graph of the nest and NodeId: the nodes that read or give the target type after convertTyped().
/// fails: as convertTyped()
Result<std::unordered_map<const graph::Graph *, std::vector<bool>>>
typedLowered(const graph::Graph &source, const policy::Assignment &assignment,
             std::span<const infer::Variable> variables, const TypedSettings &settings,
             const Progress &progress = {});

/// The choices of convertTyped() and their costs. fails: as convertTyped()
Result<CastProblem> typedChoices(const graph::Graph &source, const policy::Assignment &assignment,
                                 std::span<const infer::Variable> variables, const TypedSettings &settings,
                                 const Progress &progress = {});

} // namespace halftone::mixed
