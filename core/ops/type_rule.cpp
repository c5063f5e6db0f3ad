#include "core/ops/type_rule.h"

#include <algorithm>

namespace halftone::ops {

using tensor::DType;

namespace {

constexpr bool isCastable(DType type)
{
    return type == DType::F32 || tensor::isHalf(type);
}

constexpr bool isKnown(DType type)
{
    return type != DType::Unknown;
}

TypeOutcome refuse(std::size_t position, std::size_t *where)
{
    if (where)
        *where = position;
    return TypeOutcome::Refused;
}

/// Gives an open position `type`; false when it has another one.
bool assign(DType &position, DType type)
{
    if (!isKnown(position))
        position = type;
    return !isKnown(type) || position == type;
}

/// amp_multicast: all 16- and 32-bit floats meet in one type, the rest passes
/// (core/mixed/RULES.md, M-cast-types).
TypeOutcome multicast(std::span<DType> inputs, std::span<DType> outputs, DType preferred, std::size_t *where)
{
    const std::size_t count = std::min(inputs.size(), outputs.size());
    const bool narrow = preferred != DType::F32;
    DType common = count == 0 ? DType::Unknown : narrow ? DType::F32 : inputs[0];
    for (std::size_t i = 0; i < count; ++i) {
        for (const DType type : {inputs[i], outputs[i]}) {
            if (narrow ? tensor::isHalf(type) : type == preferred)
                common = type;
        }
    }
    bool complete = true;
    for (std::size_t i = 0; i < count; ++i) {
        if (!assign(outputs[i], isCastable(inputs[i]) ? common : inputs[i]))
            return refuse(inputs.size() + i, where);
        complete = complete && isKnown(inputs[i]) && isKnown(outputs[i]);
    }
    return complete ? TypeOutcome::Complete : TypeOutcome::Incomplete;
}

/// Place of a type in NumPy's order of promotion; among floats the wider one wins, and any float wins over
/// integers.
int promotionRank(DType type)
{
    static constexpr DType kOrder[]
        = {DType::Bool, DType::U8,  DType::I8,   DType::I16, DType::U16, DType::I32, DType::U32,
           DType::I64,  DType::U64, DType::BF16, DType::F16, DType::F32, DType::F64};
    return static_cast<int>(std::find(std::begin(kOrder), std::end(kOrder), type) - std::begin(kOrder));
}

TypeOutcome promote(std::span<DType> inputs, std::span<DType> outputs, std::size_t *where)
{
    if (inputs.size() != 2 || outputs.size() != 1)
        return TypeOutcome::Incomplete;
    if (isKnown(inputs[0]) && isKnown(inputs[1])) {
        const bool firstWins = promotionRank(inputs[0]) >= promotionRank(inputs[1]);
        return assign(outputs[0], firstWins ? inputs[0] : inputs[1]) ? TypeOutcome::Complete
                                                                     : refuse(2, where);
    }
    const DType given = isKnown(inputs[0]) ? inputs[0] : isKnown(inputs[1]) ? inputs[1] : outputs[0];
    if (!isKnown(given))
        return TypeOutcome::Incomplete;
    assign(inputs[0], given);
    assign(inputs[1], given);
    return assign(outputs[0], given) ? TypeOutcome::Complete : refuse(2, where);
}

} // namespace

/// One application of a list rule: the variables' types, gathered from the positions and given back to them.
class TypeRule::Application
{
public:
    Application(const TypeRule &rule, std::span<DType> inputs, std::span<DType> outputs, std::size_t *where)
        : m_rule(rule)
        , m_inputs(inputs)
        , m_outputs(outputs)
        , m_where(where)
    {
    }

    TypeOutcome run()
    {
        if (!forAll([this](const Item &item, DType &position) { return gather(item, position); }))
            return TypeOutcome::Refused;
        if (m_halted)
            return TypeOutcome::Incomplete;
        for (std::size_t i = 0; i < kMaxVariables; ++i)
            settle(i);
        if (!forAll([this](const Item &item, DType &position) { return fill(item, position); }))
            return TypeOutcome::Refused;
        return m_open ? TypeOutcome::Incomplete : TypeOutcome::Complete;
    }

private:
    template <class Step>
    bool forAll(const Step &step)
    {
        for (std::size_t i = 0; i < m_inputs.size(); ++i) {
            if (!step(m_rule.item(m_rule.m_inputs, i), m_inputs[i]))
                return refuse(i, m_where), false;
        }
        for (std::size_t i = 0; i < m_outputs.size(); ++i) {
            if (!step(m_rule.item(m_rule.m_outputs, i), m_outputs[i]))
                return refuse(m_inputs.size() + i, m_where), false;
        }
        return true;
    }

    /// Learns from a position; false when it must not be as it is.
    bool gather(const Item &item, DType &position)
    {
        if (!isKnown(position)) {
            m_halted = m_halted || item.need == Need::OrIncomplete;
            return item.need != Need::OrRefused;
        }
        if (item.kind == Kind::Variable)
            return assign(m_types[item.variable], position);
        if (item.kind == Kind::Function && item.function >= Function::Scalar
            && valueOf(item.function, position) == position)
            assign(m_hints[item.variable], position);
        return true;
    }

    /// The variable's type where no position of its own gave one.
    void settle(std::size_t variable)
    {
        assign(m_types[variable], m_hints[variable]);
        const Default &value = m_rule.m_defaults[variable];
        if (value.variable < kMaxVariables)
            assign(m_types[variable], m_types[value.variable]);
        assign(m_types[variable], value.isAttribute ? m_rule.m_attributeType : value.type);
    }

    bool fill(const Item &item, DType &position)
    {
        if (!assign(position, typeFor(item, position)))
            return false;
        if (!isKnown(position)) {
            m_open = m_open || item.kind != Kind::Any;
            return true;
        }
        return (item.allowed >> static_cast<unsigned>(position) & 1U) != 0;
    }

    DType typeFor(const Item &item, DType given) const
    {
        switch (item.kind) {
        case Kind::Any:
            return DType::Unknown;
        case Kind::Own:
            return isKnown(given) ? given : item.fixed;
        case Kind::Fixed:
            return item.fixed;
        case Kind::Attribute:
            return m_rule.m_attributeType;
        case Kind::Variable:
        case Kind::Taker:
            return m_types[item.variable];
        case Kind::Signed:
            return std::ranges::find(m_inputs, DType::I8) == m_inputs.end() ? DType::U8 : DType::I8;
        case Kind::Function:
            return valueOf(item.function, m_types[item.variable]);
        }
        return DType::Unknown;
    }

    DType valueOf(Function function, DType type) const
    {
        if (!isKnown(type))
            return type;
        switch (function) {
        case Function::Wide:
            return tensor::isHalf(type) ? DType::F32 : type;
        case Function::Wide16:
            return type == DType::F16 ? DType::F32 : type;
        case Function::Cast:
            return isCastable(type) ? m_rule.m_attributeType : type;
        case Function::Scalar:
            return type == DType::Bool ? DType::I64 : type;
        case Function::Real:
            return tensor::isFloat(type) ? type : DType::F64;
        }
        return DType::Unknown;
    }

    const TypeRule &m_rule;
    std::span<DType> m_inputs;
    std::span<DType> m_outputs;
    std::size_t *m_where;
    std::array<DType, kMaxVariables> m_types{};
    std::array<DType, kMaxVariables> m_hints{};
    bool m_halted = false;
    bool m_open = false;
};

const TypeRule::Item &TypeRule::item(const List &list, std::size_t position) const
{
    static constexpr Item kAny{};
    if (position < list.count)
        return m_items[list.first + position];
    if (list.repeated == 0)
        return kAny;
    const std::size_t start = list.first + list.count - list.repeated;
    return m_items[start + (position - list.count) % list.repeated];
}

TypeRule TypeRule::withAttributeType(DType type) const
{
    TypeRule rule = *this;
    rule.m_attributeType = type;
    return rule;
}

TypeOutcome TypeRule::apply(std::span<DType> inputs, std::span<DType> outputs, std::size_t *where) const
{
    switch (m_form) {
    case Form::Multicast:
        return multicast(inputs, outputs, DType::F32, where);
    case Form::MulticastNarrow:
        return multicast(inputs, outputs, DType::F16, where);
    case Form::Promote:
        return promote(inputs, outputs, where);
    case Form::List:
        break;
    }
    return Application(*this, inputs, outputs, where).run();
}

} // namespace halftone::ops
