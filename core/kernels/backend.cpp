#include "core/kernels/backend.h"

#include "core/base/fnv1a.h"
#include "core/infer/typed_model.h"
#include "core/kernels/latency_plan.h"

namespace halftone::kernels {

std::string_view nameOf(Support support)
{
    switch (support) {
    case Support::Native:
        return "native";
    case Support::Emulated:
        return "emulated";
    case Support::No:
        break;
    }
    return "no";
}

std::uint64_t seedOf(std::string_view nodeName)
{
    Fnv1a hash;
    hash.add(nodeName);
    return hash.value();
}

Result<std::unique_ptr<LatencyPlan>> Backend::plan(const infer::TypedModel &, const PlanOptions &) const
{
    return unsupported("backend " + std::string(name()), "does not support latency measurements");
}

} // namespace halftone::kernels
