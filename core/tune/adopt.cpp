#include "core/tune/adopt.h"

#include "core/policy/int8_forms.h"

#include <string>
#include <utility>

namespace halftone::tune {
namespace {

/// Whatever the labels say, what the runtime refuses stays in float32.
void keepRefused(const std::vector<Group> &groups, policy::Policy &policy)
{
    for (const Group &group : groups)
        for (const RefusedNode &refused : group.refused)
            policy.nodeOverrides.emplace(refused.name, tensor::DType::F32);
}

} // namespace

policy::Policy policyFor(const policy::Policy &base, const graph::Graph &graph,
                         const std::vector<Group> &groups, const Labels &labels)
{
    policy::Policy policy = base;
    keepRefused(groups, policy);
    bool isLowered = false;
    bool isWhole = true;
    for (std::size_t k = 0; k < groups.size(); ++k) {
        if (!groups[k].isTunable)
            continue;
        const bool isTarget = labels[k] == Label::Target;
        isLowered = isLowered || isTarget;
        isWhole = isWhole && isTarget;
        for (const graph::NodeId id : groups[k].decided) {
            const graph::NodeDef &node = graph.node(id);
            const bool isInt8 = labels[k] == Label::Int8 && policy::hasInt8Form(*graph.dialect(), node.op);
            if (labels[k] == Label::Float32 || isInt8)
                policy.nodeOverrides.emplace(node.name, isInt8 ? tensor::DType::I8 : tensor::DType::F32);
        }
    }
    if (!isLowered || isWhole) // a conversion has nothing to choose
        return policy;
    for (std::size_t k = 0; k < groups.size(); ++k)
        if (labels[k] != Label::Int8)
            for (const graph::NodeId id : groups[k].joining)
                policy.nodeOverrides.emplace(graph.node(id).name,
                                             labels[k] == Label::Float32 ? tensor::DType::F32 : base.target);
    return policy;
}

policy::Policy adoptedPolicy(const Front &front, const policy::Policy &base, const graph::Graph &graph,
                             const Labels &labels)
{
    policy::Policy policy = policyFor(base, graph, front.groups, labels);
    for (std::size_t k = 0; k < front.groups.size(); ++k) {
        for (const RefusedNode &refused : front.groups[k].refused)
            policy.reasons.insert_or_assign(refused.name, "float32: " + refused.why);
        if (!front.groups[k].isTunable)
            continue;
        const std::string reason = reasonOf(front, labels, k, tensor::nameOf(base.target));
        for (const graph::NodeId id : front.groups[k].decided)
            policy.reasons.insert_or_assign(graph.node(id).name, reason);
        for (const graph::NodeId id : front.groups[k].joining)
            if (policy.nodeOverrides.contains(graph.node(id).name))
                policy.reasons.insert_or_assign(graph.node(id).name, reason);
    }
    return policy;
}

policy::Policy withoutAdopted(policy::Policy policy)
{
    for (const auto &[node, reason] : std::exchange(policy.reasons, {}))
        policy.nodeOverrides.erase(node);
    return policy;
}

bool areSame(const policy::Policy &one, const policy::Policy &other)
{
    if (one.reasons.empty() && other.reasons.empty())
        return one == other;
    policy::Policy a = one;
    policy::Policy b = other;
    a.reasons.clear();
    b.reasons.clear();
    return a == b;
}

} // namespace halftone::tune
