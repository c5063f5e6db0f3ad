#include "core/base/text.h"
#include "core/dialect/mxnet/attribute_text.h"
#include "core/dialect/mxnet/op_info.h"

#include <algorithm>

namespace halftone::dialect::mxnet {
namespace {

std::optional<Error> failureOf(const auto &result)
{
    return result.ok() ? std::nullopt : std::optional<Error>(result.error());
}

Error notAmong(const AttributeSpec &spec, std::string_view text)
{
    return badInput({}, "\"" + printable(text, 80) + "\"",
                    "one of " + joined(spec.values, spec.values.size()));
}

/// Why `text` is no value of the attribute, or nothing.
std::optional<Error> malformed(const AttributeSpec &spec, std::string_view text)
{
    if (spec.nullable && isNone(text))
        return std::nullopt;
    switch (spec.type) {
    case AttributeType::Integer:
        return failureOf(readInteger(text));
    case AttributeType::Real:
        return failureOf(readReal(text));
    case AttributeType::Boolean:
        return failureOf(readBoolean(text));
    case AttributeType::Tuple:
        return spec.elementsNullable ? failureOf(readOptionalTuple(text)) : failureOf(readTuple(text));
    case AttributeType::RealTuple:
        return failureOf(readRealTuple(text));
    case AttributeType::Enum:
        return std::ranges::find(spec.values, trimmed(text)) != spec.values.end()
            ? std::nullopt
            : std::optional(notAmong(spec, text));
    case AttributeType::Text:
        return std::nullopt;
    }
    return std::nullopt;
}

Error unknownAttribute(const OpInfo &op, const std::string &key)
{
    std::vector<std::string_view> names;
    std::vector<std::string> all;
    for (const AttributeSpec &spec : op.attributes) {
        names.emplace_back(spec.name);
        all.push_back(spec.name);
    }
    return badInput(printable(key, 80),
                    "unknown attribute of " + op.name + didYouMean(nearestNames(key, names)),
                    joined(all, all.size()));
}

template <class T>
bool bothEqual(const Result<T> &a, const Result<T> &b, bool &equal)
{
    const bool read = a.ok() && b.ok();
    equal = read && a.value() == b.value();
    return read;
}

/// True when both texts read as the attribute's type; then `equal` says whether they mean the same.
bool compareRead(const AttributeSpec &spec, std::string_view a, std::string_view b, bool &equal)
{
    switch (spec.type) {
    case AttributeType::Integer:
    case AttributeType::Real:
        return bothEqual(readReal(a), readReal(b), equal);
    case AttributeType::Boolean:
        return bothEqual(readBoolean(a), readBoolean(b), equal);
    case AttributeType::Tuple:
        return bothEqual(readOptionalTuple(a), readOptionalTuple(b), equal);
    case AttributeType::RealTuple:
        return bothEqual(readRealTuple(a), readRealTuple(b), equal);
    case AttributeType::Enum:
    case AttributeType::Text:
        return false;
    }
    return false;
}

} // namespace

bool sameValue(const AttributeSpec &spec, std::string_view a, std::string_view b)
{
    if (a == b)
        return true;
    bool equal = false;
    return compareRead(spec, a, b, equal) ? equal : trimmed(a) == trimmed(b);
}

Result<void> checkAttributes(const OpInfo &op, const graph::Attributes &attributes)
{
    for (const auto &[key, text] : attributes) {
        if (graph::isHiddenKey(key))
            continue;
        const AttributeSpec *const spec = op.attribute(key);
        // MXNet reads no attributes at all where an operator has none, so whatever stands there is no error.
        if (!spec && !op.takesAnyAttribute && !op.attributes.empty())
            return unknownAttribute(op, key);
        if (!spec)
            continue;
        if (auto error = malformed(*spec, text)) {
            error->where = key;
            return *std::move(error);
        }
    }
    for (const AttributeSpec &spec : op.attributes) {
        if (spec.required && !attributes.find(spec.name))
            return badInput(spec.name, "required attribute of " + op.name + " is missing");
    }
    return {};
}

} // namespace halftone::dialect::mxnet
