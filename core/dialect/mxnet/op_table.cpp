#include "core/base/json.h"
#include "core/base/resource.h"
#include "core/base/text.h"
#include "core/dialect/mxnet/op_info.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <unordered_map>
#include <utility>

namespace halftone::dialect::mxnet {
namespace {

using Json = SortedJson;

struct Table
{
    std::vector<OpInfo> ops;
    std::unordered_map<std::string_view, const OpInfo *> byName; ///< views into `ops`
};

/// The kinds of attribute in operators.json; "sparse" is a tuple whose elements may be None.
constexpr std::array<std::pair<std::string_view, AttributeType>, 7> kKinds{{
    {"int", AttributeType::Integer},
    {"real", AttributeType::Real},
    {"bool", AttributeType::Boolean},
    {"tuple", AttributeType::Tuple},
    {"sparse", AttributeType::Tuple},
    {"reals", AttributeType::RealTuple},
    {"text", AttributeType::Text},
}};

/// Reads "int", "real? = None", "enum a|b = a": kind, "?" when it may be None, "=" and the default when it is
/// optional.
AttributeSpec readSpec(const std::string &name, std::string_view text)
{
    constexpr std::string_view kEnum = "enum ";
    AttributeSpec spec;
    spec.name = name;
    const std::size_t equals = text.find(" =");
    spec.required = equals == std::string_view::npos;
    if (!spec.required)
        spec.defaultValue = trimmed(text.substr(equals + 2));
    std::string_view kind = text.substr(0, equals);
    if (kind.starts_with(kEnum)) {
        spec.type = AttributeType::Enum;
        kind.remove_prefix(kEnum.size());
        for (std::size_t bar = 0; bar != std::string_view::npos; kind.remove_prefix(bar + 1)) {
            bar = kind.find('|');
            spec.values.emplace_back(kind.substr(0, bar));
            if (bar == std::string_view::npos)
                break;
        }
        return spec;
    }
    spec.nullable = kind.ends_with('?');
    if (spec.nullable)
        kind.remove_suffix(1);
    const auto *const known
        = std::ranges::find(kKinds, kind, &std::pair<std::string_view, AttributeType>::first);
    assert(known != kKinds.end() && "operators.json: unknown kind of attribute");
    spec.type = known->second;
    spec.elementsNullable = kind == "sparse";
    return spec;
}

void markMutable(Slots &inputs, const Json &names)
{
    for (SlotGroup &group : inputs.groups) {
        for (Slot &slot : group.slots)
            slot.isMutable = std::find(names.begin(), names.end(), Json(slot.name)) != names.end();
    }
}

std::optional<std::size_t> typeAttributeOf(const OpInfo &op)
{
    for (const std::string_view key : {"dtype", "out_dtype", "out_type"}) {
        const auto at = std::ranges::find(op.attributes, key, &AttributeSpec::name);
        if (at != op.attributes.end() && at->type == AttributeType::Enum)
            return static_cast<std::size_t>(at - op.attributes.begin());
    }
    return std::nullopt;
}

OpInfo readOp(const std::string &name, const Json &json)
{
    OpInfo op;
    op.name = name;
    if (const auto aliases = json.find("aliases"); aliases != json.end())
        op.aliases = aliases->get<std::vector<std::string>>();
    for (const auto &[key, text] : json["attributes"].items())
        op.attributes.push_back(readSpec(key, text.get_ref<const std::string &>()));
    op.takesAnyAttribute = json.contains("open");
    op.inputs = readSlots(json["inputs"].get_ref<const std::string &>(), op.attributes);
    op.outputs = readSlots(json["outputs"].get_ref<const std::string &>(), op.attributes);
    if (const auto names = json.find("mutable"); names != json.end())
        markMutable(op.inputs, *names);
    op.types = readTypeVariants(json["types"].get_ref<const std::string &>(), op.attributes);
    op.typeAttribute = typeAttributeOf(op);
    return op;
}

Table readTable()
{
    Table table;
    const Json json = parseSorted(resource("mxnet/operators.json"));
    assert(json.is_object() && "operators.json does not parse");
    table.ops.reserve(json.size());
    for (const auto &[name, facts] : json.items())
        table.ops.push_back(readOp(name, facts));
    table.byName.reserve(2 * table.ops.size());
    for (const OpInfo &op : table.ops) {
        table.byName.emplace(op.name, &op);
        for (const std::string &alias : op.aliases)
            table.byName.emplace(alias, &op);
    }
    return table;
}

const Table &table()
{
    static const Table kTable = readTable();
    return kTable;
}

} // namespace

const OpInfo *findOp(std::string_view name)
{
    const auto at = table().byName.find(name);
    return at == table().byName.end() ? nullptr : at->second;
}

std::span<const OpInfo> allOps()
{
    return table().ops;
}

} // namespace halftone::dialect::mxnet
