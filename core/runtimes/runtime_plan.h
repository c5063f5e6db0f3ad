#pragma once

#include "core/backends/backend_entry.h"
#include "core/infer/typed_model.h"
#include "core/kernels/latency_plan.h"
#include "core/runtimes/find_library.h"
#include "core/runtimes/kinds.h"

#include <memory>

namespace halftone::runtimes {

/// A runtime that was found, and how it is to run models.
struct RuntimeSetting
{
    const RuntimeKind *kind = nullptr;
    FoundLibrary library;
    backends::BackendUse use;

    /// "ONNX Runtime 1.22.0"
    std::string title() const;
    std::string provider() const { return use.variant.empty() ? std::string(kind->provider) : use.variant; }
};

/// A plan that runs a copy of the model in the runtime, in a process of its own.
/// fails: Unsupported where the runtime refuses the model (where = the node that it names), crashes or hangs; as HandedModel::make()
Result<std::unique_ptr<kernels::LatencyPlan>> makeRuntimePlan(const RuntimeSetting &setting,
                                                              const infer::TypedModel &model,
                                                              const kernels::PlanOptions &options);

} // namespace halftone::runtimes
