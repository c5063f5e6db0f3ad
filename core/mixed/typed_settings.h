#pragma once

#include "core/hardware/description.h"
#include "core/infer/infer_shapes.h"
#include "core/policy/assignment.h"
#include "core/policy/policy.h"
#include "core/tensor/form_cache.h"

#include <functional>

namespace halftone::mixed {

/// Of convertTyped().
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

} // namespace halftone::mixed
