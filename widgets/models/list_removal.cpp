#include "widgets/models/list_removal.h"

#include "core/dialect/dialect.h"
#include "widgets/models/list_edits.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace halftone::widgets {
namespace {

policy::Edit withoutInt8(const session::Snapshot &snapshot, const std::vector<std::string> &ops)
{
    policy::Policy policy = *snapshot.policy;
    std::erase_if(*policy.int8Ops, [&](const std::string &one) {
        const dialect::OpInfo *const info = dialect::of(snapshot.graph()).findOp(one);
        return std::ranges::find(ops, info ? info->name : one) != ops.end();
    });
    if (policy.int8Ops->empty())
        policy.int8Ops.reset();
    const QString what = QStringLiteral("Remove %1 from int8").arg(namedOperators(ops));
    return policy::ReplacePolicy{std::move(policy), what.toStdString()};
}

/// The conditions of each operator without those among `entries`.
void removeConditions(const session::Snapshot &snapshot, const std::vector<PlacedEntry> &entries,
                      std::vector<policy::Edit> &edits)
{
    std::unordered_map<std::string, std::unordered_set<std::size_t>> gone;
    std::vector<std::string> ops;
    for (const auto &[list, entry] : entries) {
        if (entry.kind != ListEntry::Kind::Condition)
            continue;
        if (gone[entry.name].empty())
            ops.push_back(entry.name);
        gone[entry.name].insert(entry.ruleIndex);
    }
    for (const std::string &op : ops) {
        const auto at = snapshot.rules->conditions.find(op);
        if (at == snapshot.rules->conditions.end())
            continue;
        policy::SetConditions edit{op, {}};
        for (std::size_t k = 0; k < at->second.size(); ++k) {
            if (!gone[op].contains(k))
                edit.rules.push_back(at->second[k]);
        }
        edits.emplace_back(std::move(edit));
    }
}

} // namespace

std::optional<policy::Edit> removalOf(const session::Snapshot &snapshot,
                                      const std::vector<PlacedEntry> &entries)
{
    std::vector<policy::Edit> edits;
    policy::MoveOperators moved{{}, policy::List::Neutral};
    std::vector<std::string> noLongerInt8;
    policy::OverrideNodes freed;
    policy::IncludeNames included;
    for (const auto &[list, entry] : entries) {
        if (entry.kind == ListEntry::Kind::Nodes)
            std::ranges::copy(entry.members,
                              std::back_inserter(list == ListId::Excluded ? included.names : freed.nodes));
        else if (list == ListId::Excluded)
            included.names.push_back(entry.name);
        else if (entry.kind == ListEntry::Kind::Node || entry.kind == ListEntry::Kind::Pattern)
            freed.nodes.push_back(entry.name);
        else if (list == ListId::Int8)
            noLongerInt8.push_back(entry.name);
        else if (entry.kind == ListEntry::Kind::Operator && list != ListId::Neutral)
            moved.ops.push_back(entry.name);
    }
    // Their place in the other lists comes to hold again.
    if (!noLongerInt8.empty())
        edits.emplace_back(withoutInt8(snapshot, noLongerInt8));
    if (!moved.ops.empty())
        edits.emplace_back(std::move(moved));
    if (!freed.nodes.empty())
        edits.emplace_back(std::move(freed));
    if (!included.names.empty())
        edits.emplace_back(std::move(included));
    removeConditions(snapshot, entries, edits);
    return asOne(snapshot, std::move(edits), QStringLiteral("Remove from the Lists"));
}

} // namespace halftone::widgets
