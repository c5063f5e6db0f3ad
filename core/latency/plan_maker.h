#pragma once

#include "core/backends/backends.h"
#include "core/base/result.h"
#include "core/infer/typed_model.h"
#include "core/kernels/latency_plan.h"

#include <functional>
#include <memory>
#include <string_view>

namespace halftone::latency {

/// Creates latency plans of variants of one model on one backend. Plans share what they have in common, above all packed weights. For one
/// thread at a time.
class PlanMaker
{
public:
    /// As backends::planningBackend().
    static Result<PlanMaker> create(std::string_view backend, unsigned threads,
                                    tensor::DType precision = tensor::DType::Unknown);

    const backends::BackendInfo &backend() const { return m_info; }

    /// A plan with the given or plausible values in its inputs (feedPlan()); it may outlive this. Bodies of control flow run in an interpreter.
    /// layout, beforeTiming  as in PlanOptions
    /// fails: as kernels::Backend::plan() and feedPlan()
    Result<std::unique_ptr<kernels::LatencyPlan>>
    plan(const infer::TypedModel &model, const std::function<void()> &beforeTiming = {},
         kernels::PlanLayout layout = kernels::PlanLayout::Measured) const;

private:
    PlanMaker() = default;

    backends::BackendInfo m_info;
    std::shared_ptr<const kernels::Backend> m_backend;
    kernels::BackendChain m_chain; ///< for bodies
    std::shared_ptr<kernels::PlanCache> m_cache = std::make_shared<kernels::PlanCache>();
};

} // namespace halftone::latency
