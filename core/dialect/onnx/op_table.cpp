#include "core/base/json.h"
#include "core/base/resource.h"
#include "core/base/text.h"
#include "core/dialect/onnx/op_info.h"

#include <array>
#include <cassert>
#include <map>
#include <memory>
#include <utility>

namespace halftone::dialect::onnx {
namespace {

using Json = SortedJson;

constexpr std::array<std::pair<std::string_view, AttributeType>, 8> kKinds{{
    {"int", AttributeType::Integer},
    {"ints", AttributeType::Tuple},
    {"float", AttributeType::Real},
    {"floats", AttributeType::RealTuple},
    {"string", AttributeType::Text},
    {"strings", AttributeType::Text},
    {"tensor", AttributeType::Text},
    {"graph", AttributeType::Text},
}};

/// "int", "int!", "int = 1": kind, required or not, default.
AttributeSpec readSpec(const std::string &name, std::string_view text)
{
    AttributeSpec spec;
    spec.name = name;
    const std::size_t equals = text.find(" = ");
    if (equals != std::string_view::npos) {
        spec.defaultValue = text.substr(equals + 3);
        text = text.substr(0, equals);
    }
    spec.required = text.ends_with('!');
    if (spec.required)
        text.remove_suffix(1);
    for (const auto &[kind, type] : kKinds)
        if (kind == text)
            spec.type = type;
    return spec;
}

std::vector<Slot> readSlots(std::string_view text)
{
    std::vector<Slot> slots;
    while (!text.empty()) {
        const std::size_t comma = text.find(", ");
        std::string_view item = text.substr(0, comma);
        Slot slot;
        slot.isOptional = item.ends_with('?') || item.ends_with('*');
        slot.isVariadic = item.ends_with('*');
        if (slot.isOptional)
            item.remove_suffix(1);
        slot.name = item;
        slots.push_back(std::move(slot));
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 2);
    }
    return slots;
}

/// "T{float32|int64} -> T" of "?{float32|int64} -> D".
std::string likeFirst(std::string text)
{
    assert(text.starts_with('?') && text.ends_with('D'));
    text.front() = text.back() = 'T';
    return text;
}

OpInfo readVersion(const std::string &name, const Json &op, const Json &version)
{
    OpInfo info;
    info.name = name;
    info.since = version["since"].get<int>();
    info.isDeprecated = version.contains("deprecated");
    info.inputs = readSlots(version["inputs"].get_ref<const std::string &>());
    info.outputs = readSlots(version["outputs"].get_ref<const std::string &>());
    info.typeText = version["types"].get<std::string>();
    info.types = ops::TypeRule::parse(info.typeText);
    if (const auto converted = version.find("converted"); converted != version.end())
        info.converted = ops::TypeRule::parse(converted->get_ref<const std::string &>());
    for (const auto &[key, text] : version["attributes"].items())
        info.attributes.push_back(readSpec(key, text.get_ref<const std::string &>()));
    info.typedBy = op.value("typed_by", std::string());
    if (op.contains("like")) {
        info.isTypedLike = true;
        info.like = ops::TypeRule::parse(likeFirst(info.typeText));
    }
    info.isTypedByTensor = info.typedBy == "value";
    return info;
}

struct Table
{
    std::vector<std::unique_ptr<const OpInfo>> infos;
    std::array<std::unordered_map<std::string_view, const OpInfo *>, kNewestOpset + 1> byOpset;
    std::map<std::string, OpClass, std::less<>> classes;
};

void addOp(Table &table, const std::string &name, const Json &op)
{
    table.classes[name] = {op.value("fp16", std::string()), op.value("bf16", std::string()),
                           op.value("reason", std::string())};
    for (const Json &version : op["versions"]) {
        table.infos.push_back(std::make_unique<const OpInfo>(readVersion(name, op, version)));
        const OpInfo &info = *table.infos.back();
        for (int opset = info.since; opset <= kNewestOpset; ++opset)
            table.byOpset[static_cast<std::size_t>(opset)].insert_or_assign(info.name, &info);
    }
}

Table readTable()
{
    Table table;
    const Json json = parseSorted(resource("onnx/operators.json"));
    assert(json.is_object() && "operators.json does not parse");
    for (const auto &[name, op] : json.items())
        addOp(table, name, op);
    return table;
}

const Table &table()
{
    static const Table kTable = readTable();
    return kTable;
}

} // namespace

const std::unordered_map<std::string_view, const OpInfo *> &operatorsOf(int opset)
{
    return table().byOpset[static_cast<std::size_t>(opset)];
}

const OpClass &classOf(std::string_view op)
{
    static const OpClass kNone;
    const auto found = table().classes.find(op);
    return found == table().classes.end() ? kNone : found->second;
}

} // namespace halftone::dialect::onnx
