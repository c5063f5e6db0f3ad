#include "core/session/snapshot.h"

#include "core/policy/policy_options.h"
#include "core/rewrite/nested_conversions.h"

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
    return rewrite::castTotals(converted->conversion).all();
}

} // namespace halftone::session
