#include "core/results/lists_json.h"

#include "core/policy/policy_json.h"

namespace halftone::results {

using Json = OrderedJson;

Json listsJson(const policy::OpLists &lists)
{
    Json document{{"source", lists.source},
                  {"version", lists.version},
                  {"target_dtype", tensor::nameOf(lists.targetType)}};
    for (const policy::List list : kNameLists)
        document[std::string(policy::nameOf(list))] = lists.names(list);
    Json conditions = Json::array();
    for (const policy::ConditionalRule &rule : lists.conditional)
        conditions.push_back({rule.op, rule.attribute, rule.values});
    document[std::string(policy::nameOf(policy::List::Conditional))] = std::move(conditions);
    Json never = Json::array();
    for (const policy::Contradiction &contradiction : policy::contradictions(lists))
        never.push_back({{"entry", contradiction.entry},
                         {"list", policy::nameOf(contradiction.list)},
                         {"op", contradiction.op},
                         {"op_list", policy::nameOf(contradiction.opList)}});
    document["contradictions"] = std::move(never);
    return document;
}

Json importedJson(const policy::ImportedLists &lists, const std::string &from, const std::string &written)
{
    return {{"from", from},
            {"policy", parseOrdered(policy::writePolicy(lists.policy))},
            {"unmatched", lists.unmatched},
            {"notes", lists.notes},
            {"written", written.empty() ? Json() : Json(written)}};
}

} // namespace halftone::results
