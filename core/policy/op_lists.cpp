#include "core/policy/op_lists.h"

#include "core/base/json.h"
#include "core/base/resource.h"
#include "core/dialect/dialect.h"
#include "core/policy/policy_fields.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_map>

namespace halftone::policy {
namespace {

using Json = SortedJson;

constexpr std::array kTypes{tensor::DType::F16, tensor::DType::BF16};

constexpr std::array kNameLists{List::Target, List::Fp32, List::Widest, List::Neutral};

std::vector<std::string> &namesOf(OpLists &lists, List list)
{
    return list == List::Target ? lists.target
        : list == List::Fp32    ? lists.fp32
        : list == List::Widest  ? lists.widest
                                : lists.neutral;
}

/// Lists as a file has them: whole, or as what is removed from those of another file ("based_on") and then added.
OpLists listsOf(const std::string &file)
{
    const Json json = parseSorted(resource(file));
    const auto namesIn = [](const Json &object, List list) {
        return object.value(std::string(nameOf(list)), std::vector<std::string>());
    };
    OpLists lists;
    if (const auto base = json.find("based_on"); base != json.end()) {
        lists = listsOf(file.substr(0, file.rfind('/') + 1) + base->get<std::string>() + ".json");
        for (const List list : kNameLists) {
            std::vector<std::string> &names = namesOf(lists, list);
            for (const std::string &name : namesIn(json.at("removed"), list))
                std::erase(names, name);
            std::ranges::copy(namesIn(json.at("added"), list), std::back_inserter(names));
        }
    } else {
        for (const List list : kNameLists)
            namesOf(lists, list) = namesIn(json, list);
        for (const Json &rule : json.at(nameOf(List::Conditional)))
            lists.conditional.push_back({rule.at(0), rule.at(1), rule.at(2).get<std::vector<std::string>>()});
    }
    lists.source = json.at("source").get<std::string>();
    return lists;
}

OpLists parse(const dialect::Dialect &dialect, tensor::DType target, std::string_view version)
{
    OpLists lists = listsOf(dialect.listResource(target, version));
    lists.dialect = &dialect;
    lists.version = version;
    lists.label = "built-in " + std::string(nameOf(target)) + ' ' + lists.version;
    lists.targetType = target;
    return lists;
}

} // namespace

std::string_view nameOf(List list)
{
    switch (list) {
    case List::Target:
        return "target_dtype_ops";
    case List::Fp32:
        return "fp32_ops";
    case List::Widest:
        return "widest_dtype_ops";
    case List::Conditional:
        return "conditional_fp32_ops";
    case List::Int8:
        return "int8_ops";
    case List::Neutral:
        break;
    }
    return "fp16_fp32_ops";
}

const std::vector<std::string> &OpLists::names(List list) const
{
    assert(list != List::Conditional && list != List::Int8);
    return list == List::Target ? target
        : list == List::Fp32    ? fp32
        : list == List::Widest  ? widest
                                : neutral;
}

bool OpLists::holds(List list, std::string_view op) const
{
    if (list == List::Conditional)
        return std::ranges::find(conditional, op, &ConditionalRule::op) != conditional.end();
    return list != List::Int8 && std::ranges::find(names(list), op) != names(list).end();
}

Result<const OpLists *> builtInLists(const dialect::Dialect &dialect, tensor::DType target,
                                     std::string_view version)
{
    using Key = std::tuple<const dialect::Dialect *, tensor::DType, std::string_view>;
    static std::mutex mutex;
    static std::map<Key, OpLists> known; // whose addresses stay

    if (std::ranges::find(kTypes, target) == kTypes.end())
        return badInput("target_dtype", std::string(nameOf(target)), "float16 or bfloat16");
    const auto versions = dialect.listVersions();
    auto at = std::ranges::find(versions, version);
    if (version.empty())
        at = versions.begin();
    if (at == versions.end())
        return badInput("lists", '"' + std::string(version) + '"',
                        versions.empty() ? "a format that has lists" : alternatives(versions));
    const std::lock_guard lock(mutex);
    const auto [lists, isNew] = known.try_emplace({&dialect, target, *at});
    if (isNew)
        lists->second = parse(dialect, target, *at);
    return &lists->second;
}

std::vector<Contradiction> contradictions(const OpLists &lists)
{
    std::unordered_map<std::string_view, List> stands;
    for (const List list : kNameLists) {
        for (const std::string &op : lists.names(list))
            stands.emplace(op, list);
    }
    for (const ConditionalRule &rule : lists.conditional)
        stands.emplace(rule.op, List::Conditional);

    std::vector<Contradiction> found;
    for (const List list : kNameLists) {
        for (const std::string &entry : lists.names(list)) {
            const dialect::OpInfo *const info = lists.dialect->findOp(entry);
            if (!info || info->name == entry)
                continue;
            if (const auto own = stands.find(info->name); own != stands.end() && own->second != list)
                found.push_back({entry, list, info->name, own->second});
        }
    }
    return found;
}

} // namespace halftone::policy
