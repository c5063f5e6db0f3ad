#include "core/session/snapshot.h"

namespace halftone::session {

tensor::DType Snapshot::precisionOf(graph::NodeId node) const
{
    return converted ? converted->conversion.precisionOf(node) : tensor::DType::Unknown;
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
