#pragma once

#include "core/backends/backends.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/infer/typed_model.h"
#include "core/interpret/interpreter.h"
#include "core/latency/model_inputs.h"
#include "core/policy/policy.h"
#include "core/rewrite/inline_calls.h"

#include <cstddef>
#include <vector>

namespace halftone::latency {

/// The model with all types and shapes. Operators that a framework has fused are expanded. If operators depend on values of inputs, the model
/// is traced (trace()).
/// known   shapes of variables: with those of parameters, sufficient to infer all others
/// policy  of the conversion: determines which variables are data, and their types
/// given   an example, for tracing and timing
/// limits  of the run for tracing
/// calls   of functions that are taken apart: callsInlinedFor()
/// fails   BadInput for contradicting types or shapes (where = the node)
Result<infer::TypedModel> typedModel(graph::Model model, const infer::KnownShapes &known,
                                     const policy::Policy &policy, const Progress &progress = {},
                                     const GivenInputs &given = {}, const interpret::RunLimits &limits = {},
                                     rewrite::InlinedCalls calls = rewrite::InlinedCalls::All);

/// A runtime has kernels of its own for operators that a function stands for here.
rewrite::InlinedCalls callsInlinedFor(const backends::BackendInfo &backend);

/// Layers whose times are meaningless because the backend emulates their type.
struct EmulatedLayers
{
    tensor::DType type = tensor::DType::Unknown;
    std::size_t count = 0;
};

/// One entry for each emulated type among the outputs of operators.
std::vector<EmulatedLayers> emulatedLayers(const infer::TypedModel &typed,
                                           const backends::BackendInfo &backend);

} // namespace halftone::latency
