#include "core/weights/rule_matcher.h"

#include "core/base/text.h"

#include <algorithm>
#include <string_view>

namespace halftone::weights {
namespace {

bool isPattern(std::string_view text)
{
    return text.size() > 2 && text.front() == '/' && text.back() == '/';
}

Error noSuchTarget(const std::string &target, const graph::Graph &graph)
{
    std::vector<std::string_view> names;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        if (!graph.isVariable(id)) {
            names.emplace_back(graph.node(id).name);
            names.emplace_back(graph.node(id).op);
        }
    return badCall(Field::Weights, target,
                   "the name of a node or operator, or a pattern that matches one"
                       + didYouMean(nearestNames(target, names)));
}

} // namespace

Result<RuleMatcher> RuleMatcher::create(std::span<const policy::WeightRule> rules, const graph::Graph &graph)
{
    RuleMatcher matcher;
    for (const policy::WeightRule &rule : rules) {
        Row row{&rule, {}};
        if (isPattern(rule.target)) {
            auto pattern = policy::Pattern::compile(
                std::string_view(rule.target).substr(1, rule.target.size() - 2), 1);
            if (!pattern.ok())
                return badCall(Field::Weights, pattern.error().found + " in " + rule.target,
                               pattern.error().expected);
            row.pattern = std::move(pattern).value();
        }
        bool isFound = rule.target.empty();
        for (graph::NodeId id = 0; id < graph.nodeCount() && !isFound; ++id)
            isFound = !graph.isVariable(id) && names(row, graph.node(id));
        if (!isFound)
            return noSuchTarget(rule.target, graph);
        matcher.m_rows.push_back(std::move(row));
    }
    return matcher;
}

bool RuleMatcher::names(const Row &row, const graph::NodeDef &node)
{
    return row.rule->target == node.name || row.rule->target == node.op
        || (row.pattern && row.pattern->matches(node.name));
}

const policy::WeightRule *RuleMatcher::ruleOf(const graph::NodeDef &node, bool isProduct) const
{
    for (std::size_t k = m_rows.size(); k > 0; --k) {
        const Row &row = m_rows[k - 1];
        if (row.rule->target.empty() ? isProduct : names(row, node))
            return row.rule;
    }
    return nullptr;
}

} // namespace halftone::weights
