#include "core/policy/op_lists.h"

#include "core/base/resource.h"
#include "core/dialect/mxnet/op_info.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <mutex>
#include <unordered_map>

namespace halftone::policy {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 3> kVersions{"1.9.1", "2.0.0b1", "master"};
constexpr std::array<std::string_view, 1> kDialects{"mxnet"};
constexpr std::array kTypes{tensor::DType::F16, tensor::DType::BF16};

OpLists parse(tensor::DType target, std::string_view version)
{
    std::string path = "oplists/" + std::string(nameOf(target));
    if (version != kVersions.front())
        path += "-" + std::string(version);
    const Json json = Json::parse(resource(path + ".json"));
    OpLists lists;
    lists.source = json.at("source").get<std::string>();
    lists.version = version;
    lists.label = "built-in " + std::string(nameOf(target)) + ' ' + lists.version;
    lists.targetType = target;
    lists.target = json.at(nameOf(List::Target)).get<std::vector<std::string>>();
    lists.fp32 = json.at(nameOf(List::Fp32)).get<std::vector<std::string>>();
    lists.widest = json.at(nameOf(List::Widest)).get<std::vector<std::string>>();
    lists.neutral = json.at(nameOf(List::Neutral)).get<std::vector<std::string>>();
    for (const Json &rule : json.at(nameOf(List::Conditional)))
        lists.conditional.push_back({rule.at(0), rule.at(1), rule.at(2).get<std::vector<std::string>>()});
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

Result<const OpLists *> builtInLists(tensor::DType target, std::string_view version)
{
    struct Slot
    {
        std::once_flag once;
        OpLists lists;
    };
    static std::array<std::array<Slot, kVersions.size()>, kTypes.size()> slots;

    const auto *const type = std::ranges::find(kTypes, target);
    if (type == kTypes.end())
        return badInput("target_dtype", std::string(nameOf(target)), "float16 or bfloat16");
    const auto *const at = std::ranges::find(kVersions, version);
    if (at == kVersions.end())
        return badInput("lists", '"' + std::string(version) + '"', "1.9.1, 2.0.0b1 or master");
    Slot &slot = slots[static_cast<std::size_t>(type - kTypes.begin())]
                      [static_cast<std::size_t>(at - kVersions.begin())];
    std::call_once(slot.once, [&] { slot.lists = parse(target, version); });
    return &slot.lists;
}

std::span<const std::string_view> listVersions()
{
    return kVersions;
}

std::span<const std::string_view> listDialects()
{
    return kDialects;
}

std::vector<Contradiction> contradictions(const OpLists &lists)
{
    constexpr std::array kNameLists{List::Target, List::Fp32, List::Widest, List::Neutral};
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
            const dialect::mxnet::OpInfo *const info = dialect::mxnet::findOp(entry);
            if (!info || info->name == entry)
                continue;
            if (const auto own = stands.find(info->name); own != stands.end() && own->second != list)
                found.push_back({entry, list, info->name, own->second});
        }
    }
    return found;
}

} // namespace halftone::policy
