#pragma once

#include "core/base/result.h"
#include "core/infer/typed_model.h"
#include "core/kernels/backend.h"

#include <memory>
#include <string_view>

namespace halftone::latency {

/// The name of such a kernel in rows of a latency plan.
inline constexpr std::string_view kBodyKernelName = "control flow, computed by the interpreter";

/// A kernel for a node with bodies (If, Loop, Scan, …): an interpreter of that node with its parameters. A run fails if types or shapes of
/// results, which may depend on values, differ from those of the model.
/// fails: as Interpreter::create()
Result<std::unique_ptr<kernels::Kernel>> bodyKernel(const infer::TypedModel &typed, graph::NodeId node,
                                                    const kernels::BackendChain &backends);

} // namespace halftone::latency
