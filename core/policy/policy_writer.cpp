#include "core/base/json.h"
#include "core/policy/policy_fields.h"
#include "core/policy/policy_json.h"
#include "core/policy/weight_choice.h"

namespace halftone::policy {
namespace {

using Json = OrderedJson;

Json toJson(bool flag)
{
    return flag;
}

Json toJson(const std::vector<std::string> &names)
{
    return names;
}

Json toJson(const std::vector<ConditionalRule> &rules)
{
    Json json = Json::array();
    for (const ConditionalRule &rule : rules)
        json.push_back(Json::array({rule.op, rule.attribute, rule.values}));
    return json;
}

Json toJson(const std::vector<Policy::Move> &moves)
{
    Json json = Json::array();
    for (const Policy::Move &move : moves)
        json.push_back(Json::array({move.op, nameOf(listOf(move.to))}));
    return json;
}

Json toJson(const std::vector<WeightRule> &rules)
{
    Json json = Json::array();
    for (const WeightRule &rule : rules)
        json.push_back(Json::array({rule.target, formatText(rule)}));
    return json;
}

Json toJson(const std::map<std::string, tensor::DType> &types)
{
    Json json = Json::object();
    for (const auto &[name, type] : types)
        json[name] = nameOf(type);
    return json;
}

Json toJson(const std::map<std::string, std::string> &texts)
{
    return texts;
}

Json toJson(const std::map<std::string, ThresholdChoice> &thresholds)
{
    Json json = Json::object();
    for (const auto &[name, choice] : thresholds)
        json[name] = choice.value ? Json(*choice.value) : Json(nameOf(choice.method));
    return json;
}

/// null for a member that has its default value.
template <class T>
Json toJson(const std::optional<T> &value)
{
    return value ? toJson(*value) : Json();
}

Json memberToJson(const Policy &policy, const PolicyField::Word &word)
{
    const std::string_view text = word.get(policy);
    return text.empty() ? Json() : Json(text);
}

template <class T>
Json memberToJson(const Policy &policy, T Policy::*member)
{
    const T &value = policy.*member;
    if (value == Policy().*member)
        return {};
    return toJson(value);
}

} // namespace

std::string writePolicy(const Policy &policy)
{
    Json json = Json::object();
    for (const PolicyField &field : policyFields()) {
        Json value
            = std::visit([&](const auto &member) { return memberToJson(policy, member); }, field.member);
        if (!value.is_null())
            json[std::string(field.key)] = std::move(value);
    }
    return jsonText(json, 2) + '\n';
}

} // namespace halftone::policy
