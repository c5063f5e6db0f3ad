#pragma once

#include "core/graph/graph.h"
#include "core/policy/policy.h"
#include "core/tune/front.h"

#include <vector>

namespace halftone::tune {

/// The policy that gives these labels: `base`, and a node override for each node of a group that is not as its lists say.
policy::Policy policyFor(const policy::Policy &base, const graph::Graph &graph,
                         const std::vector<Group> &groups, const Labels &labels);

/// The same as it is taken over from a front: with reasonOf() for each node that the search decided about (Policy::reasons).
policy::Policy adoptedPolicy(const Front &front, const policy::Policy &base, const graph::Graph &graph,
                             const Labels &labels);

/// What a person has said of a policy that was perhaps taken over from a front: reasons, and the overrides of nodes that have one, are
/// gone. A search for another front begins with this; else nothing would be left for it to decide.
policy::Policy withoutAdopted(policy::Policy policy);

/// Do both give every node the same types? Reasons, which go by what is known so far, do not count.
bool areSame(const policy::Policy &one, const policy::Policy &other);

} // namespace halftone::tune
