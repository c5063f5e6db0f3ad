#include "core/session/snapshot.h"

#include "core/policy/policy_options.h"

namespace halftone::session {

tensor::DType Snapshot::target() const
{
    return policy::askedTarget(*policy);
}

tensor::DType Snapshot::asAsked(tensor::DType type) const
{
    return type == policy->target ? target() : type;
}

tensor::DType Snapshot::precisionOf(graph::NodeId node) const
{
    return converted ? asAsked(converted->conversion.precisionOf(node)) : tensor::DType::Unknown;
}

std::size_t Snapshot::castCount() const
{
    if (!converted)
        return 0;
    const rewrite::Conversion &conversion = converted->conversion;
    std::size_t casts = conversion.castCounts().all();
    for (const rewrite::ConvertedBody &body : conversion.bodies)
        casts += body.conversion.castCounts().all();
    return casts;
}

} // namespace halftone::session
