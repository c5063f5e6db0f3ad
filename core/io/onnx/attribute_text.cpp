#include "core/io/onnx/attribute_text.h"

#include "core/base/text.h"
#include "core/dialect/onnx/attribute_list.h"

namespace halftone::io::onnx {

namespace names = dialect::onnx;
using Attribute = ::onnx::AttributeProto;
using graph::NodeDef;

namespace {

Error badText(const NodeDef &def, const std::string &key, const std::string &text)
{
    return badInput(def.name + ": " + key, '"' + printable(text, 80) + '"',
                    "a value of the attribute's type");
}

} // namespace

Attribute::AttributeType neededType(dialect::AttributeType type)
{
    switch (type) {
    case dialect::AttributeType::Integer:
        return Attribute::INT;
    case dialect::AttributeType::Real:
        return Attribute::FLOAT;
    case dialect::AttributeType::Tuple:
        return Attribute::INTS;
    case dialect::AttributeType::RealTuple:
        return Attribute::FLOATS;
    default:
        return Attribute::UNDEFINED;
    }
}

Attribute::AttributeType typeFor(const dialect::AttributeSpec *spec)
{
    const auto needed = spec ? neededType(spec->type) : Attribute::UNDEFINED;
    return needed == Attribute::UNDEFINED ? Attribute::STRING : needed;
}

Result<void> writeText(const NodeDef &def, const std::string &key, const std::string &text,
                       Attribute &attribute)
{
    switch (attribute.type()) {
    case Attribute::INT:
        if (const auto value = parseInteger(text)) {
            attribute.set_i(*value);
            return {};
        }
        return badText(def, key, text);
    case Attribute::FLOAT:
        if (const auto value = parseReal(text)) {
            attribute.set_f(static_cast<float>(*value));
            return {};
        }
        return badText(def, key, text);
    case Attribute::INTS:
        if (const auto values = names::integersIn(text)) {
            attribute.mutable_ints()->Assign(values->begin(), values->end());
            return {};
        }
        return badText(def, key, text);
    case Attribute::FLOATS:
        if (const auto values = names::realsIn(text)) {
            attribute.clear_floats();
            for (const double value : *values)
                attribute.add_floats(static_cast<float>(value));
            return {};
        }
        return badText(def, key, text);
    case Attribute::STRINGS:
        if (const auto values = names::textsIn(text)) {
            attribute.mutable_strings()->Assign(values->begin(), values->end());
            return {};
        }
        return badText(def, key, text);
    default:
        attribute.set_s(text);
        return {};
    }
}

std::optional<std::string> textOf(const Attribute &attribute)
{
    switch (attribute.type()) {
    case Attribute::FLOAT:
        return names::realText(attribute.f());
    case Attribute::INT:
        return std::to_string(attribute.i());
    case Attribute::STRING:
        return attribute.s();
    case Attribute::FLOATS:
        return names::listText(
            std::span(attribute.floats().data(), static_cast<std::size_t>(attribute.floats_size())));
    case Attribute::INTS:
        return names::listText(std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end()));
    case Attribute::STRINGS:
        return names::listText(
            std::vector<std::string>(attribute.strings().begin(), attribute.strings().end()));
    default:
        return std::nullopt;
    }
}

} // namespace halftone::io::onnx
