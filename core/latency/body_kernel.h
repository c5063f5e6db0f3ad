#pragma once

#include "core/base/result.h"
#include "core/infer/typed_model.h"
#include "core/kernels/backend.h"

#include <memory>
#include <string_view>

namespace halftone::latency {

/// What a row of a latency plan says of such a kernel.
inline constexpr std::string_view kBodyKernelName = "control flow, computed by the interpreter";

/// A kernel for a node of the model that runs bodies (If, Loop, Scan, …): an interpreter of that node alone, with its parameters.
/// fails: as Interpreter::create(); a run refuses results of other types or shapes than the model's, which follow from the values
Result<std::unique_ptr<kernels::Kernel>> bodyKernel(const infer::TypedModel &typed, graph::NodeId node,
                                                    const kernels::BackendChain &backends);

} // namespace halftone::latency
