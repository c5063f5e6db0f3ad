#include "core/policy/policy_json.h"

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/policy/policy_fields.h"
#include "core/policy/policy_slots.h"
#include "core/policy/weight_choice.h"
#include "core/policy/wording.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace halftone::policy {
namespace {

/// Takes the text piece by piece. A piece that does not fit its slot stops the parser, so nothing gets deeper
/// than slots are.
class Reader final : public nlohmann::json_sax<SortedJson>
{
public:
    explicit Reader(std::string_view text)
        : m_text(text)
    {
    }

    /// Once the parser is through: the policy, or why there is none.
    Result<Policy> finish();

    bool null() override;
    bool boolean(bool value) override;
    bool number_integer(number_integer_t value) override { return refuse(std::to_string(value)); }
    bool number_unsigned(number_unsigned_t value) override
    {
        return number(static_cast<double>(value), std::to_string(value));
    }
    bool number_float(number_float_t value, const string_t &text) override { return number(value, text); }
    bool string(string_t &text) override;
    bool binary(binary_t &) override { return refuse("bytes"); }
    bool start_object(std::size_t) override { return open(Form::Object, "an object"); }
    bool key(string_t &text) override;
    bool end_object() override;
    bool start_array(std::size_t) override { return open(Form::List, "a list"); }
    bool end_array() override;
    bool parse_error(std::size_t at, const std::string &token, const nlohmann::detail::exception &) override;

private:
    /// An open list or object.
    struct Level
    {
        Slot slot = Slot::Root;
        std::size_t count = 0; ///< values begun
    };

    Slot nextSlot() const;
    std::string path() const;
    bool fail(std::string where, std::string found, std::string expected = {});
    bool refuse(std::string found);
    bool open(Form form, std::string found);
    bool setType(const std::string &text);
    bool setMoveList(const std::string &text);
    bool setWeightFormat(const std::string &text);
    bool number(double value, const std::string &text);
    template <class T>
    void give(T value);

    Policy m_policy;
    std::optional<Error> m_error;
    std::string_view m_text;
    std::vector<Level> m_levels;
    const PolicyField *m_field = nullptr;
    std::unordered_set<std::string_view> m_keys;
    std::string m_name; ///< the member of an object whose members the person names

    // The value under way.
    std::vector<std::string> m_names;
    std::vector<ConditionalRule> m_rules;
    std::map<std::string, tensor::DType> m_types;
    std::map<std::string, std::string> m_texts;
    std::vector<Policy::Move> m_moves;
    std::map<std::string, ThresholdChoice> m_thresholds;
    std::vector<WeightRule> m_weights;
};

/// An object whose members the person names.
bool isNamed(Slot slot)
{
    return slot == Slot::Types || slot == Slot::Reasons || slot == Slot::Thresholds;
}

/// The slot that the next value would fill.
Slot Reader::nextSlot() const
{
    if (m_levels.empty())
        return Slot::Root;
    const Level &level = m_levels.back();
    return level.slot == Slot::Root ? slotOf(*m_field) : slotWithin(level.slot, level.count);
}

/// Where the next value would stand: `conditional_fp32_ops[0][2]`.
std::string Reader::path() const
{
    if (m_levels.empty())
        return "the policy";
    std::string path(m_field ? m_field->key : "the policy");
    for (std::size_t i = 1; i < m_levels.size(); ++i) {
        if (isNamed(m_levels[i].slot))
            path += '[' + inQuotes(m_name) + ']';
        else
            path = indexed(path, m_levels[i].count);
    }
    return path;
}

bool Reader::fail(std::string where, std::string found, std::string expected)
{
    m_error = badInput(std::move(where), std::move(found), std::move(expected));
    return false;
}

bool Reader::refuse(std::string found)
{
    const Slot slot = nextSlot();
    const PolicyField::Word *const word
        = slot == Slot::Word ? std::get_if<PolicyField::Word>(&m_field->member) : nullptr;
    return fail(path(), std::move(found), std::string(word ? word->allowedWords() : factsOf(slot).expected));
}

bool Reader::null()
{
    const bool absent = !m_levels.empty() && m_levels.back().slot == Slot::Root;
    return absent || refuse("null");
}

bool Reader::boolean(bool value)
{
    if (nextSlot() != Slot::Flag)
        return refuse(value ? "true" : "false");
    m_policy.*std::get<PolicyField::Flag>(m_field->member) = value;
    return true;
}

bool Reader::string(string_t &text)
{
    switch (nextSlot()) {
    case Slot::Word:
        if (!std::get<PolicyField::Word>(m_field->member).set(m_policy, text))
            return refuse(inQuotes(text));
        return true;
    case Slot::Name:
        m_names.push_back(std::move(text));
        break;
    case Slot::ConditionOp:
        m_rules.back().op = std::move(text);
        break;
    case Slot::ConditionAttribute:
        m_rules.back().attribute = std::move(text);
        break;
    case Slot::ConditionValue:
        m_rules.back().values.push_back(std::move(text));
        break;
    case Slot::Type:
        return setType(text);
    case Slot::Reason:
        m_texts[m_name] = std::move(text);
        return true;
    case Slot::Threshold: {
        const auto method = thresholdMethodNamed(text);
        if (!method)
            return refuse(inQuotes(text));
        m_thresholds[m_name] = {*method, std::nullopt};
        return true;
    }
    case Slot::MoveOp:
        m_moves.back().op = std::move(text);
        break;
    case Slot::MoveList:
        if (!setMoveList(text))
            return refuse(inQuotes(text));
        break;
    case Slot::WeightTarget:
        m_weights.back().target = std::move(text);
        break;
    case Slot::WeightFormat:
        if (!setWeightFormat(text))
            return refuse(inQuotes(text));
        break;
    default:
        return refuse("one string, " + inQuotes(text));
    }
    ++m_levels.back().count;
    return true;
}

bool Reader::setType(const std::string &text)
{
    const std::optional<tensor::DType> type = tensor::dtypeNamed(text);
    if (!type)
        return refuse(inQuotes(text));
    m_types[m_name] = *type;
    return true;
}

bool Reader::number(double value, const std::string &text)
{
    if (nextSlot() != Slot::Threshold || !(value > 0) || !std::isfinite(value))
        return refuse(text);
    m_thresholds[m_name] = {kDefaultThresholdMethod, value};
    return true;
}

bool Reader::setMoveList(const std::string &text)
{
    for (const auto to : {Policy::Move::To::Target, Policy::Move::To::Fp32, Policy::Move::To::Widest,
                          Policy::Move::To::Neutral}) {
        if (nameOf(listOf(to)) == text) {
            m_moves.back().to = to;
            return true;
        }
    }
    return false;
}

bool Reader::setWeightFormat(const std::string &text)
{
    auto format = weightFormatIn(text);
    if (format.ok())
        m_weights.back().format = format.value();
    return format.ok();
}

bool Reader::open(Form form, std::string found)
{
    const Slot slot = nextSlot();
    if (factsOf(slot).form != form)
        return refuse(std::move(found));
    if (slot == Slot::Condition)
        m_rules.emplace_back();
    else if (slot == Slot::Move)
        m_moves.emplace_back();
    else if (slot == Slot::WeightRule)
        m_weights.emplace_back();
    m_levels.push_back({slot, 0});
    return true;
}

bool Reader::key(string_t &text)
{
    if (isNamed(m_levels.back().slot)) {
        m_name = std::move(text);
        return !(m_types.contains(m_name) || m_texts.contains(m_name) || m_thresholds.contains(m_name))
            || fail(path(), "duplicate name");
    }
    const auto fields = policyFields();
    const auto at = std::ranges::find(fields, text, &PolicyField::key);
    if (at == fields.end()) {
        std::vector<std::string_view> keys;
        for (const PolicyField &field : fields)
            keys.push_back(field.key);
        return fail("the policy", "unknown key " + inQuotes(text) + didYouMean(nearestNames(text, keys)));
    }
    m_field = &*at;
    return m_keys.insert(m_field->key).second || fail(std::string(m_field->key), "duplicate key");
}

template <class T>
void Reader::give(T value)
{
    std::visit(
        [&](const auto &member) {
            if constexpr (requires { m_policy.*member = std::move(value); })
                m_policy.*member = std::move(value);
        },
        m_field->member);
}

bool Reader::end_object()
{
    if (m_levels.back().slot == Slot::Types)
        give(std::exchange(m_types, {}));
    else if (m_levels.back().slot == Slot::Reasons)
        give(std::exchange(m_texts, {}));
    else if (m_levels.back().slot == Slot::Thresholds)
        give(std::exchange(m_thresholds, {}));
    m_levels.pop_back();
    return true;
}

bool Reader::end_array()
{
    const Level closed = m_levels.back();
    const bool incomplete = (closed.slot == Slot::Condition && closed.count < 3)
        || ((closed.slot == Slot::Move || closed.slot == Slot::WeightRule) && closed.count < 2);
    if (incomplete)
        return refuse("the end of the list");
    m_levels.pop_back();
    if (closed.slot == Slot::Names)
        give(std::exchange(m_names, {}));
    else if (closed.slot == Slot::Conditions)
        give(std::exchange(m_rules, {}));
    else if (closed.slot == Slot::Moves)
        give(std::exchange(m_moves, {}));
    else if (closed.slot == Slot::WeightRules)
        give(std::exchange(m_weights, {}));
    else
        ++m_levels.back().count;
    return true;
}

/// `at` counts the bytes read, with the one that fits no more.
bool Reader::parse_error(std::size_t at, const std::string &, const nlohmann::detail::exception &)
{
    constexpr std::size_t kShown = 20;
    if (at > m_text.size())
        return fail("byte " + std::to_string(m_text.size()), "the text ends", "the rest of the policy");
    const std::size_t place = std::max<std::size_t>(at, 1) - 1;
    return fail("byte " + std::to_string(place), "invalid JSON at " + inQuotes(m_text.substr(place, kShown)));
}

Result<Policy> Reader::finish()
{
    if (m_error)
        return std::move(*m_error);
    return std::move(m_policy);
}

} // namespace

Result<Policy> readPolicy(std::string_view json)
{
    if (json.size() > kLongestPolicy)
        return badInput("the policy", std::to_string(json.size()) + " bytes",
                        "at most " + std::to_string(kLongestPolicy));
    // The parser would take a NUL for the end and what follows for nothing.
    if (const std::size_t at = json.find('\0'); at != std::string_view::npos)
        return badInput("byte " + std::to_string(at), "a NUL byte", "JSON in UTF-8");
    Reader reader(json);
    SortedJson::sax_parse(json, &reader);
    return reader.finish();
}

} // namespace halftone::policy
