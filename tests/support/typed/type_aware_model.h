#pragma once

#include "core/graph/graph.h"
#include "core/policy/assignment.h"
#include "tests/support/typed/type_oracle.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace halftone::test {

/// What MXNet's type-aware conversion makes of a graph, as far as its number of casts and the types of its parameters go: that of its
/// master branch (pull request 20753), which no release has. A plain model for comparison, quadratic here and there. Types are inferred
/// first; an operator that has its value in the target type at hand, or is asked for it, tries to compute in it and keeps its original
/// types where its rule, an input that it writes to or one that cannot be cast forbids; widest operators do so only without new casts.
struct TypeAwareResult
{
    std::set<std::string> casts; ///< names of the inserted amp_casts
    std::size_t castCount = 0; ///< inserted and of the source; a multicast of the source counts as inputs - 1
    std::map<std::string, tensor::DType> stored; ///< parameters whose storage changes
    bool servesAllTargets = true; ///< false: it gave up on an operator that was asked for in the target type
};

/// `variables`: types by NodeId; `parameters`: by NodeId, whether a variable is a parameter.
TypeAwareResult convertTypeAware(const graph::Graph &source, const policy::Assignment &assignment,
                                 const Types &variables, const std::vector<bool> &parameters,
                                 tensor::DType target, bool castParamsOffline);

} // namespace halftone::test
