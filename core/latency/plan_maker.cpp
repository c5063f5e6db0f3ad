#include "core/latency/plan_maker.h"

#include "core/latency/body_kernel.h"
#include "core/latency/model_inputs.h"

#include <utility>

namespace halftone::latency {

Result<PlanMaker> PlanMaker::create(std::string_view backend, unsigned threads, tensor::DType precision)
{
    PlanMaker maker;
    HALFTONE_TRY(maker.m_backend, backends::planningBackend(backend, threads, precision));
    HALFTONE_TRY(maker.m_info, backends::backendInfo(backend));
    // Not those that others run nodes on: their threads sleep while they wait, and so would those of the plan.
    if (auto host = backends::planningBackend(backends::kDefaultBackend, threads); host.ok())
        maker.m_chain.push_back(std::move(host).value());
    HALFTONE_TRY(const kernels::BackendChain reference, backends::backendChain("reference", threads));
    maker.m_chain.insert(maker.m_chain.end(), reference.begin(), reference.end());
    return maker;
}

Result<std::unique_ptr<kernels::LatencyPlan>> PlanMaker::plan(const infer::TypedModel &model,
                                                              const std::function<void()> &beforeTiming,
                                                              kernels::PlanLayout layout) const
{
    kernels::PlanOptions options{m_cache, layout, beforeTiming};
    options.feed = [&model](kernels::LatencyPlan &plan) { return feedPlan(plan, model); };
    options.bodies = [this, &model](graph::NodeId node) { return bodyKernel(model, node, m_chain); };
    HALFTONE_TRY(std::unique_ptr<kernels::LatencyPlan> plan, m_backend->plan(model, options));
    HALFTONE_CHECK(feedPlan(*plan, model));
    return plan;
}

} // namespace halftone::latency
