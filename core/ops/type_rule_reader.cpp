#include "core/base/text.h"
#include "core/ops/type_rule.h"

#include <algorithm>
#include <cassert>
#include <cctype>

namespace halftone::ops {

using tensor::DType;

namespace {

constexpr std::uint32_t bit(DType type)
{
    return 1U << static_cast<unsigned>(type);
}

constexpr std::uint32_t kFloats = bit(DType::F16) | bit(DType::BF16) | bit(DType::F32) | bit(DType::F64);
constexpr std::uint32_t kIntegers = bit(DType::I8) | bit(DType::U8) | bit(DType::I16) | bit(DType::U16)
    | bit(DType::I32) | bit(DType::U32) | bit(DType::I64) | bit(DType::U64);

DType typeNamed(std::string_view name)
{
    const auto type = tensor::dtypeNamed(name);
    assert(type && "unknown type name in a type rule");
    return type.value_or(DType::Unknown);
}

std::uint32_t typesNamed(std::string_view name)
{
    return name == "float" ? kFloats : name == "integer" ? kIntegers : bit(typeNamed(name));
}

/// Takes `mark` off the end of `text`.
bool takeSuffix(std::string_view &text, std::string_view mark)
{
    if (!text.ends_with(mark))
        return false;
    text.remove_suffix(mark.size());
    text = trimmed(text);
    return true;
}

} // namespace

/// Reads the text form of a rule, from the ends of each item inwards.
class TypeRuleReader
{
public:
    TypeRule read(std::string_view text)
    {
        const std::size_t arrow = text.find("->");
        assert(arrow != std::string_view::npos && "a type rule needs an arrow");
        m_rule.m_inputs = readList(text.substr(0, arrow));
        m_rule.m_outputs = readList(text.substr(arrow + 2));
        return m_rule;
    }

    static TypeRule ofForm(std::string_view text)
    {
        TypeRule rule;
        rule.m_form = text == "promote" ? TypeRule::Form::Promote
            : text == "multicast"       ? TypeRule::Form::Multicast
                                        : TypeRule::Form::MulticastNarrow;
        return rule;
    }

private:
    TypeRule::List readList(std::string_view text)
    {
        TypeRule::List list;
        list.first = m_size;
        text = trimmed(text);
        while (!text.empty()) {
            const bool isGroup = text.starts_with('(');
            const std::size_t end = isGroup ? text.find(")...") + 4 : std::min(text.find(','), text.size());
            std::string_view item = text.substr(0, end);
            text = end < text.size() ? trimmed(text.substr(end + 1)) : std::string_view();
            if (isGroup) {
                const TypeRule::List group = readList(item.substr(1, item.size() - 5));
                list.repeated = group.count;
            } else {
                list.repeated = takeSuffix(item, "...") ? 1 : 0;
                readItem(trimmed(item));
            }
        }
        list.count = static_cast<std::uint8_t>(m_size - list.first);
        return list;
    }

    void readItem(std::string_view text)
    {
        assert(m_size < TypeRule::kMaxItems && "too many items in a type rule");
        TypeRule::Item &item = m_rule.m_items[m_size++];
        item.need = takeSuffix(text, "!") ? TypeRule::Need::OrRefused
            : takeSuffix(text, "~")       ? TypeRule::Need::OrIncomplete
                                          : TypeRule::Need::None;
        if (const std::size_t brace = text.find('{'); brace != std::string_view::npos) {
            item.allowed = readAllowed(text.substr(brace + 1, text.size() - brace - 2));
            text = text.substr(0, brace);
        }
        const std::size_t equals = text.find('=');
        readCore(trimmed(text.substr(0, equals)), item);
        if (equals != std::string_view::npos)
            readDefault(trimmed(text.substr(equals + 1)), item);
    }

    static std::uint32_t readAllowed(std::string_view names)
    {
        unsigned allowed = 0;
        for (std::size_t bar = 0; bar != std::string_view::npos; names.remove_prefix(bar + 1)) {
            bar = names.find('|');
            allowed |= typesNamed(trimmed(names.substr(0, bar)));
            if (bar == std::string_view::npos)
                break;
        }
        return static_cast<std::uint32_t>(allowed);
    }

    void readCore(std::string_view text, TypeRule::Item &item)
    {
        if (text == "?") {
            item.kind = TypeRule::Kind::Any;
        } else if (text == "_") {
            item.kind = TypeRule::Kind::Own;
        } else if (text == "D") {
            item.kind = TypeRule::Kind::Attribute;
        } else if (text == "signed") {
            item.kind = TypeRule::Kind::Signed;
        } else if (text.starts_with('<')) {
            item.kind = TypeRule::Kind::Taker;
            item.variable = indexOf(text.substr(1));
        } else if (text.size() == 1) {
            item.kind = TypeRule::Kind::Variable;
            item.variable = indexOf(text);
        } else if (const std::size_t open = text.find('('); open != std::string_view::npos) {
            item.kind = TypeRule::Kind::Function;
            item.function = functionNamed(text.substr(0, open));
            item.variable = indexOf(text.substr(open + 1, 1));
        } else {
            item.kind = TypeRule::Kind::Fixed;
            item.fixed = typeNamed(text);
        }
    }

    static TypeRule::Function functionNamed(std::string_view name)
    {
        using Function = TypeRule::Function;
        assert((name == "wide" || name == "wide16" || name == "cast" || name == "scalar" || name == "real")
               && "unknown function in a type rule");
        return name == "wide"  ? Function::Wide
            : name == "wide16" ? Function::Wide16
            : name == "cast"   ? Function::Cast
            : name == "scalar" ? Function::Scalar
                               : Function::Real;
    }

    void readDefault(std::string_view text, TypeRule::Item &item)
    {
        if (item.kind == TypeRule::Kind::Own) {
            item.fixed = typeNamed(text);
            return;
        }
        TypeRule::Default &value = m_rule.m_defaults[item.variable];
        value.isAttribute = text == "D";
        if (text.size() == 1 && !value.isAttribute)
            value.variable = indexOf(text);
        else if (!value.isAttribute)
            value.type = typeNamed(text);
    }

    /// Variables are numbered in the order in which they first appear.
    std::uint8_t indexOf(std::string_view name)
    {
        assert(name.size() == 1 && std::isupper(static_cast<unsigned char>(name[0]))
               && "malformed item in a type rule");
        std::size_t index = m_letters.find(name);
        if (index == std::string::npos) {
            index = m_letters.size();
            m_letters += name;
        }
        assert(index < TypeRule::kMaxVariables && "too many variables in a type rule");
        return static_cast<std::uint8_t>(index);
    }

    TypeRule m_rule;
    std::uint8_t m_size = 0;
    std::string m_letters;
};

TypeRule TypeRule::parse(std::string_view text, DType attributeType)
{
    text = trimmed(text);
    const bool isForm = text == "promote" || text == "multicast" || text == "multicast narrow";
    const bool isFallback = text == "fallback";
    TypeRule rule
        = isForm ? TypeRuleReader::ofForm(text) : TypeRuleReader().read(isFallback ? "T... -> T..." : text);
    rule.m_isFallback = isFallback;
    return rule.withAttributeType(attributeType);
}

} // namespace halftone::ops
