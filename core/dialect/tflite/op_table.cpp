#include "core/base/json.h"
#include "core/base/resource.h"
#include "core/dialect/tflite/op_info.h"
#include "core/dialect/tflite/tflite_dialect.h"

#include <array>
#include <cassert>
#include <utility>

namespace halftone::dialect::tflite {
namespace {

using NamesOfValues = std::map<std::int64_t, std::string>;

constexpr std::array<std::pair<std::string_view, FieldKind>, 11> kFieldKinds{{
    {"bool", FieldKind::Bool},
    {"int8", FieldKind::Int8},
    {"uint8", FieldKind::UInt8},
    {"int32", FieldKind::Int32},
    {"uint32", FieldKind::UInt32},
    {"int64", FieldKind::Int64},
    {"float32", FieldKind::Float32},
    {"int32s", FieldKind::Int32List},
    {"int64s", FieldKind::Int64List},
    {"float32s", FieldKind::Float32List},
    {"text", FieldKind::Text},
}};

constexpr int kNoCode = -1; ///< of operators that are in no file

struct OperatorTable
{
    std::map<std::string, std::unique_ptr<const OpInfo>, std::less<>> byName;
    std::map<int, const OpInfo *> byCode;
    std::vector<const dialect::OpInfo *> all;
    std::map<std::string, NamesOfValues> names;
    std::map<std::pair<int, int>, std::vector<OptionField>> options;
};

/// "input, filter, bias?".
std::vector<Slot> slotsIn(std::string_view text)
{
    std::vector<Slot> slots;
    while (!text.empty()) {
        const std::size_t comma = text.find(", ");
        std::string_view item = text.substr(0, comma);
        const bool isOptional = item.ends_with('?');
        if (isOptional)
            item.remove_suffix(1);
        slots.push_back({std::string(item), isOptional});
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 2);
    }
    return slots;
}

OptionField readField(const SortedJson &json, const OperatorTable &table)
{
    OptionField field;
    field.name = json["name"].get<std::string>();
    field.place = json["place"].get<std::uint16_t>();
    field.defaultValue = json.value("default", std::string("0"));
    const auto kind = json["kind"].get<std::string>();
    for (const auto &[name, one] : kFieldKinds)
        if (name == kind)
            field.kind = one;
    if (json.contains("names"))
        field.names = &table.names.at(json["names"].get<std::string>());
    return field;
}

OperatorTable readOperators()
{
    OperatorTable table;
    const SortedJson json = parseSorted(resource("tflite/operators.json"));
    assert(json.is_object() && "operators.json does not parse");
    for (const auto &[name, facts] : json["operators"].items()) {
        auto info = std::make_unique<OpInfo>();
        info->name = name;
        info->code = facts["code"].get<int>();
        info->inputs = slotsIn(facts.value("inputs", std::string()));
        info->takesAnyAttribute = true;
        table.byCode.emplace(info->code, info.get());
        table.all.push_back(info.get());
        table.byName.emplace(name, std::move(info));
    }
    for (const std::string_view ours : {kConstantOp, kCopyOp}) {
        auto info = std::make_unique<OpInfo>();
        info->name = ours;
        info->code = kNoCode;
        info->takesAnyAttribute = true;
        table.byName.emplace(ours, std::move(info));
    }
    for (const auto &[name, values] : json["names"].items())
        for (const auto &[value, text] : values.items())
            table.names[name].emplace(std::stoll(value), text.get<std::string>());
    for (const SortedJson &options : json["options"]) {
        std::vector<OptionField> &fields
            = table.options[{options["union"].get<int>(), options["tag"].get<int>()}];
        for (const SortedJson &field : options["fields"])
            fields.push_back(readField(field, table));
    }
    return table;
}

const OperatorTable &operatorTable()
{
    static const OperatorTable kTable = readOperators();
    return kTable;
}

} // namespace

std::span<const OptionField> optionsOf(int unionNumber, int tag)
{
    const auto &options = operatorTable().options;
    const auto found = options.find({unionNumber, tag});
    return found == options.end() ? std::span<const OptionField>() : found->second;
}

const OpInfo *operatorOfCode(int code)
{
    const auto found = operatorTable().byCode.find(code);
    return found == operatorTable().byCode.end() ? nullptr : found->second;
}

const OpInfo *operatorNamed(std::string_view name)
{
    const auto found = operatorTable().byName.find(name);
    return found == operatorTable().byName.end() ? nullptr : found->second.get();
}

std::span<const dialect::OpInfo *const> allOperators()
{
    return operatorTable().all;
}

} // namespace halftone::dialect::tflite
