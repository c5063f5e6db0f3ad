#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/hardware/description.h"
#include "core/infer/infer_shapes.h"
#include "core/infer/variables.h"
#include "core/mixed/cast_problem.h"
#include "core/policy/assignment.h"
#include "core/rewrite/conversion.h"
#include "core/tensor/form_cache.h"

#include <functional>
#include <span>

namespace halftone::mixed {

struct TypedSettings
{
    tensor::DType target = tensor::DType::F16; ///< F16 or BF16
    policy::Mode mode = policy::Mode::Typed; ///< Typed, Tvm or All
    /// Store a parameter in the target type when all its readers want it so.
    bool castParams = false;
    /// False: float32 data that all readers want in the target type come in it, and heads as they are computed.
    bool keepIoTypes = true;
    bool share = true; ///< merge nodes that compute the same; those at heads stay
    const infer::ShapeMap *shapes = nullptr; ///< of the source graph, for the sizes of casts; null: unknown
    /// Decides for the nodes of a body of control flow; empty: bodies stay as they are.
    std::function<policy::Assignment(const graph::Graph &body)> assignBody;
    int depth = 0; ///< how many bodies the graph lies in
    /// By whose rates casts and operators weigh their time; null: casts weigh their bytes (M-typed-cut).
    const hardware::Description *clock = nullptr;
    bool castConstants = false; ///< likewise a constant that a node holds, also in bodies
    bool clamps
        = false; ///< constants beyond the range of a type they are stored in become its ends, not infinite
    tensor::FormCache *forms
        = nullptr; ///< constants that were cast before; gets what is cast now; null: none
};

/// Mixed-precision conversion by type inference: a cast only where types really differ, one for each tensor and type,
/// none for what can be stored in the right type (core/mixed/RULES.md, section 3; policies: planTypes()). Linear in
/// nodes and edges but for nested bodies; nodes that no head needs are left out.
///
/// needs  a decision in `assignment` and an entry in `variables` for every node of `source`
/// keeps  names, attributes and relative order of the nodes, types of heads; float64 and integers everywhere
/// casts  `<node>_<output>_amp_cast_<dtype>`, of variables `<name>_0_amp_cast_<dtype>`; "_1", "_2", … behind a taken name
/// stored constants that nodes hold, like parameters
/// marked parameters in the target type, and those that are cast, say their type in `__dtype__`; an excluded parameter stays as it is
/// folds  casts of the source: each reader gets anew what it needs, so that converting twice changes nothing
/// bodies of control flow are converted too; what they read in the target type only is cast or stored outside of them
/// fails  BadInput for a graph that is ill-typed itself; Cancelled
Result<rewrite::Conversion> convertTyped(const graph::Graph &source, const policy::Assignment &assignment,
                                         std::span<const infer::Variable> variables,
                                         const TypedSettings &settings, const Progress &progress = {});

/// The choices that convertTyped() has, and what they cost. fails: as it does
Result<CastProblem> typedChoices(const graph::Graph &source, const policy::Assignment &assignment,
                                 std::span<const infer::Variable> variables, const TypedSettings &settings,
                                 const Progress &progress = {});

} // namespace halftone::mixed
