#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/policy/pattern.h"
#include "core/policy/weight_choice.h"

#include <optional>
#include <span>
#include <vector>

namespace halftone::weights {

/// Which rule holds for a node.
class RuleMatcher
{
public:
    /// fails: BadCall (Field::Weights) for a pattern that is malformed, and for a target that no node of the graph has
    static Result<RuleMatcher> create(std::span<const policy::WeightRule> rules, const graph::Graph &graph);

    /// The last one that names the node. `isProduct`: rules without a target mean it; null: none
    const policy::WeightRule *ruleOf(const graph::NodeDef &node, bool isProduct) const;

private:
    struct Row
    {
        const policy::WeightRule *rule = nullptr;
        std::optional<policy::Pattern> pattern;
    };
    static bool names(const Row &row, const graph::NodeDef &node);

    std::vector<Row> m_rows;
};

} // namespace halftone::weights
