#include "core/profile/plan_maker.h"

#include "core/profile/latency.h"

namespace halftone::profile {

Result<PlanMaker> PlanMaker::create(std::string_view backend, unsigned threads)
{
    PlanMaker maker;
    HALFTONE_TRY(maker.m_backend, backends::planningBackend(backend, threads));
    HALFTONE_TRY(maker.m_info, backends::backendInfo(backend));
    return maker;
}

Result<std::unique_ptr<kernels::LatencyPlan>> PlanMaker::plan(const infer::TypedModel &model,
                                                              const std::function<void()> &beforeTiming,
                                                              kernels::PlanLayout layout) const
{
    HALFTONE_TRY(std::unique_ptr<kernels::LatencyPlan> plan,
                 m_backend->plan(model, {m_cache, layout, beforeTiming}));
    fillInputs(*plan, 1);
    return plan;
}

} // namespace halftone::profile
