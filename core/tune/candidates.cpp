#include "core/tune/candidates.h"

#include <algorithm>

namespace halftone::tune {
namespace {

bool isSameGroup(const Group &a, const Group &b)
{
    return a.name == b.name && a.nodes == b.nodes && a.decided == b.decided && a.joining == b.joining
        && a.refused == b.refused && a.isTunable == b.isTunable && a.costs.isAllowed == b.costs.isAllowed;
}

} // namespace

std::vector<Candidate> candidatesOf(const Network &network)
{
    std::vector<Candidate> candidates;
    for (std::size_t k = network.groups.size(); k-- > 0;)
        for (const Label label : {Label::Target, Label::Int8})
            if (network.groups[k].isTunable && network.groups[k].costs.allows(label))
                candidates.push_back({k, label});
    return candidates;
}

Result<Record> mergedRecord(std::span<const Record> records)
{
    Record merged;
    for (const Record &record : records) {
        if (!record.network)
            return badInput("network", "no groups", "the groups of the model");
        if (!merged.network)
            merged = record;
        if (!std::ranges::equal(record.network->groups, merged.network->groups, isSameGroup))
            return badInput("network", "the groups differ from those of the first file", "the same groups");
        merged.alone.insert(record.alone.begin(), record.alone.end());
    }
    return merged;
}

} // namespace halftone::tune
