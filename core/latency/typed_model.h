#pragma once

#include "core/backends/backends.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/infer/typed_model.h"
#include "core/interpret/interpreter.h"
#include "core/latency/model_inputs.h"
#include "core/policy/policy.h"

#include <cstddef>
#include <vector>

namespace halftone::latency {

/// Types and shapes of everything in the model. Operators that a framework's backend has fused are taken apart.
/// known   of variables; with those of the parameters enough of them to tell all the others
/// policy  by which the model was converted: it knows which variables are data and in which types they come
/// limits  of what is run for that
/// Where operators are what values of inputs say, the model is gone through once for that (trace()).
/// given   an example: what it is traced and to be timed with
/// fails   BadInput for types or shapes that contradict each other (where = the node)
Result<infer::TypedModel> typedModel(graph::Model model, const infer::KnownShapes &known,
                                     const policy::Policy &policy, const Progress &progress = {},
                                     const GivenInputs &given = {}, const interpret::RunLimits &limits = {});

/// Layers whose times say nothing, since the backend emulates their type.
struct EmulatedLayers
{
    tensor::DType type = tensor::DType::Unknown;
    std::size_t count = 0;
};

/// One entry for each emulated type that some operator of the model gives.
std::vector<EmulatedLayers> emulatedLayers(const infer::TypedModel &typed,
                                           const backends::BackendInfo &backend);

} // namespace halftone::latency
