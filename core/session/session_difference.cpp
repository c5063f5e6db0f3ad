#include "core/session/session_difference.h"

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/policy/policy_json.h"

#include <algorithm>
#include <set>

namespace halftone::session {
namespace {

using Json = OrderedJson;

constexpr std::size_t kShown = 400; ///< bytes of a value

std::string textOf(const Json *value)
{
    if (value == nullptr || value->is_null())
        return {};
    return printable(value->is_string() ? value->get<std::string>() : jsonText(*value), kShown);
}

const Json *memberOf(const Json &object, const std::string &key)
{
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
}

/// The entries of `list` that `other` lacks, where both are lists.
std::string entriesBeyond(const Json &list, const Json &other)
{
    std::vector<std::string> beyond;
    for (const Json &entry : list)
        if (std::find(other.begin(), other.end(), entry) == other.end())
            beyond.push_back(textOf(&entry));
    return joined(beyond);
}

class SessionComparison
{
public:
    void texts(const std::string &what, const std::string &there, const std::string &here)
    {
        if (there != here)
            differences.push_back({what, printable(there, kShown), printable(here, kShown)});
    }

    /// Key by key.
    void objects(const std::string &prefix, const Json &there, const Json &here)
    {
        std::set<std::string> keys;
        for (const Json *const object : {&there, &here})
            for (const auto &[key, value] : object->items())
                keys.insert(key);
        for (const std::string &key : keys)
            values(prefix + key, memberOf(there, key), memberOf(here, key));
    }

    std::vector<SessionDifference> differences;

private:
    void values(const std::string &what, const Json *there, const Json *here)
    {
        if (there != nullptr && here != nullptr && *there == *here)
            return;
        const Json none = Json::array();
        const auto isList = [](const Json *value) { return value == nullptr || value->is_array(); };
        if (isList(there) && isList(here)) { // one that is absent is empty
            const Json &theirs = there != nullptr ? *there : none;
            const Json &ours = here != nullptr ? *here : none;
            std::string more = entriesBeyond(theirs, ours);
            std::string fewer = entriesBeyond(ours, theirs);
            if (more.empty() && fewer.empty())
                more = fewer = "same entries in a different order";
            differences.push_back({what, std::move(more), std::move(fewer)});
            return;
        }
        differences.push_back({what, textOf(there), textOf(here)});
    }
};

/// The edits that led to the present state, since the last one that both have.
std::string editsBeyond(const History &history, std::size_t common)
{
    std::vector<std::string> edits;
    for (std::size_t k = common; k <= history.current; ++k)
        edits.push_back(printable(history.entries[k].what, 100));
    return joined(edits);
}

std::size_t commonEdits(const History &a, const History &b)
{
    std::size_t common = 0;
    while (common <= std::min(a.current, b.current) && a.entries[common] == b.entries[common])
        ++common;
    return common;
}

Json dataOf(const SessionFile &session)
{
    if (!session.data)
        return Json::object();
    const walks::ExampleOptions &data = *session.data;
    return {{"inputs", data.inputs},     {"preprocess", data.preprocess},
            {"labels", data.labels},     {"targets", data.targets},
            {"examples", data.examples}, {"metric", data.metric ? tasks::nameOf(*data.metric) : ""}};
}

Json policyOf(const SessionFile &session)
{
    return parseOrdered(policy::writePolicy(session.history.entries[session.history.current].policy));
}

} // namespace

std::vector<SessionDifference> differencesOf(const SessionFile &there, const SessionFile &here)
{
    SessionComparison comparison;
    comparison.texts("model", there.modelPath, here.modelPath);
    comparison.texts("parameters", there.paramsPath, here.paramsPath);
    const auto differ = [](const auto &a, const auto &b) { return a && b && a != b; }; // where both are known
    const bool isOtherContent
        = differ(there.modelHash, here.modelHash) || differ(there.externalHash, here.externalHash);
    if (isOtherContent && there.modelPath == here.modelPath)
        comparison.texts("content of the model", "another", "");
    const std::size_t common = commonEdits(there.history, here.history);
    comparison.texts("edits", editsBeyond(there.history, common), editsBeyond(here.history, common));
    comparison.objects({}, policyOf(there), policyOf(here));
    comparison.objects("data: ", dataOf(there), dataOf(here));
    comparison.objects("view: ", Json(there.view), Json(here.view));
    return std::move(comparison.differences);
}

} // namespace halftone::session
