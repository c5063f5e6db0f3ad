#include "core/dialect/mxnet/merging.h"

#include "core/base/json.h"
#include "core/base/resource.h"
#include "core/dialect/mxnet/attribute_text.h"
#include "core/dialect/mxnet/op_info.h"

#include <cstdio>
#include <unordered_set>

namespace halftone::dialect::mxnet {
namespace {

std::unordered_set<std::string> readNeverMerged()
{
    std::unordered_set<std::string> names;
    const auto file = parseSorted(resource("oplists/cse_never_merge.json"));
    for (const char *list : {"legacy_operator_property", "stateful", "mutates_inputs", "random_resource"}) {
        for (const auto &name : file.at(list))
            names.insert(name.get<std::string>());
    }
    for (const auto &name : file.at("deterministic_override")) {
        if (const auto found = names.find(name.get<std::string>()); found != names.end())
            names.erase(found);
    }
    return names;
}

/// Families that the macros of the reference register and its lists give by a prefix or not at all.
bool isRandom(std::string_view op)
{
    return op.find("_uniform") != std::string_view::npos || op.starts_with("_sample_")
        || op.starts_with("_random_") || op == "_shuffle";
}

template <class T>
std::string listText(const std::vector<T> &values)
{
    std::string text;
    for (const T &value : values)
        text += std::to_string(value) + ',';
    return text;
}

std::string realText(double value)
{
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.17g", value);
    return text.data();
}

/// One text for every way to write the same value; a text that does not parse stands for itself.
std::string canonicalValue(const AttributeSpec &spec, std::string_view text)
{
    if (spec.nullable && isNone(text))
        return "None";
    switch (spec.type) {
    case AttributeType::Integer:
        if (const auto value = readInteger(text); value.ok())
            return std::to_string(value.value());
        break;
    case AttributeType::Real:
        if (const auto value = readReal(text); value.ok())
            return realText(value.value());
        break;
    case AttributeType::Boolean:
        if (const auto value = readBoolean(text); value.ok())
            return value.value() ? "1" : "0";
        break;
    case AttributeType::Tuple:
        if (const auto value = readTuple(text); value.ok())
            return listText(value.value());
        break;
    case AttributeType::RealTuple:
        if (const auto value = readRealTuple(text); value.ok()) {
            std::string canonical;
            for (const double real : value.value())
                canonical += realText(real) + ',';
            return canonical;
        }
        break;
    case AttributeType::Enum:
    case AttributeType::Text:
        break;
    }
    return std::string(text);
}

} // namespace

bool mayMerge(std::string_view op)
{
    static const std::unordered_set<std::string> kNever = readNeverMerged();
    return findOp(op) != nullptr && !isRandom(op) && !kNever.contains(std::string(op));
}

std::string attributeKey(const graph::NodeDef &node)
{
    std::string key;
    if (const OpInfo *op = findOp(node.op); op != nullptr) {
        for (const AttributeSpec &spec : op->attributes)
            key += canonicalValue(spec, attributeValue(*op, node.attributes, spec.name)) + ';';
    }
    for (const auto &[name, value] : node.attributes) {
        if (name == "__ctx_group__" || name == "__amp_dtype__")
            key.append(name).append(1, '=').append(value).append(1, ';');
    }
    return key;
}

} // namespace halftone::dialect::mxnet
