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

std::map<tensor::DType, std::map<std::string, std::size_t>> Snapshot::operatorsInBodies() const
{
    std::map<tensor::DType, std::map<std::string, std::size_t>> counts;
    if (!converted)
        return counts;
    for (const rewrite::ConvertedBody &body : converted->conversion.bodies) {
        const graph::Graph &within = *graph().node(body.node).subgraphs[body.body];
        for (const auto &[type, operators] : rewrite::operatorsByPrecision(within, body.conversion))
            for (const auto &[op, count] : operators)
                counts[asAsked(type)][op] += count;
    }
    return counts;
}

} // namespace halftone::session
