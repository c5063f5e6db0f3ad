#include "core/session/query.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace halftone::session {
namespace {

using Kind = QueryField::Kind;
using StepKind = QueryStep::Kind;

constexpr int kDeepest = 100; ///< parentheses and `not` within each other

struct QueryUnit
{
    std::string_view name; ///< in lower case
    Kind kind;
    double factor;
};

const QueryUnit *unitNamed(std::string_view text)
{
    static constexpr std::array kUnits{
        QueryUnit{"us", Kind::Time, 1},      QueryUnit{"\u00b5s", Kind::Time, 1},
        QueryUnit{"\u03bcs", Kind::Time, 1}, QueryUnit{"ns", Kind::Time, 1e-3},
        QueryUnit{"ms", Kind::Time, 1e3},    QueryUnit{"s", Kind::Time, 1e6},
        QueryUnit{"db", Kind::Decibels, 1},  QueryUnit{"%", Kind::Ratio, 0.01},
    };
    const auto *const found = std::ranges::find(kUnits, lowerCase(text), &QueryUnit::name);
    return found == kUnits.end() ? nullptr : found;
}

std::string numberFor(Kind kind)
{
    return kind == Kind::Time    ? "a time such as 100us, 2ms or 1s"
        : kind == Kind::Decibels ? "a number such as 30 or 30dB"
        : kind == Kind::Ratio    ? "a number such as 0.01 or 1%"
                                 : "a number such as 1";
}

std::string inQuotes(std::string_view text)
{
    return '"' + std::string(text) + '"';
}

/// Names of fields without what does not count in them.
std::string bare(std::string_view name)
{
    std::string text = lowerCase(name);
    std::erase(text, '_');
    return text;
}

/// The number that a word begins with; empty: none.
std::string_view numberIn(std::string_view word)
{
    while (!word.empty() && !parseReal(word))
        word.remove_suffix(1);
    return word;
}

bool isOneOf(char byte, std::string_view bytes)
{
    return bytes.find(byte) != std::string_view::npos;
}

constexpr std::string_view kBlanks = " \t\n\v\f\r";
constexpr std::string_view kDigits = "0123456789";

struct Token
{
    enum class Kind : std::uint8_t { End, Open, Close, Sign, Comma, Word, Quoted, Pattern } kind = Kind::End;
    std::string text{};
    std::size_t at = 0; ///< its first byte

    /// And, Or or Not, of a word that is one of them: ONNX's operators And, Or and Not are none.
    std::optional<StepKind> joint() const
    {
        static constexpr std::array<std::pair<std::string_view, StepKind>, 8> kJoints{
            {{"and", StepKind::And},
             {"AND", StepKind::And},
             {"&&", StepKind::And},
             {"or", StepKind::Or},
             {"OR", StepKind::Or},
             {"||", StepKind::Or},
             {"not", StepKind::Not},
             {"NOT", StepKind::Not}}};
        const auto *const found
            = std::ranges::find(kJoints, text, &std::pair<std::string_view, StepKind>::first);
        return kind == Kind::Word && found != kJoints.end() ? std::optional(found->second) : std::nullopt;
    }
};

/// Reads a query from left to right, with one token ahead.
class QueryParser
{
public:
    QueryParser(std::string_view text, std::span<const QueryField> fields)
        : m_text(text)
        , m_fields(fields)
    {
    }

    Result<std::vector<QueryStep>> parse()
    {
        HALFTONE_CHECK(advance());
        if (m_ahead.kind != Token::Kind::End)
            HALFTONE_CHECK(readAny());
        if (m_ahead.kind == Token::Kind::Close)
            return error(m_ahead.at, "unmatched \")\"", "quotation marks around text with parentheses");
        return std::move(m_steps);
    }

private:
    Result<void> advance();
    Result<Token> readToken();
    Token token(Token::Kind kind, std::size_t end);
    std::size_t patternEnd() const;
    std::size_t wordEnd() const;
    Result<Token> readQuoted();
    Result<Token> readSign();

    Result<void> readAny();
    Result<void> readAll();
    Result<void> readOne();
    Result<void> readComparison();
    Result<void> readNumber(std::size_t field, const Token &sign);
    Result<void> readText(std::size_t field, const Token &sign);
    Result<void> addText(const Token &value, std::optional<std::size_t> field, StepKind kind);

    std::optional<std::size_t> fieldNamed(std::string_view name) const;
    Error unknownField(const Token &name) const;
    Error noCondition() const;
    Error missing(std::string expected) const;
    Error error(std::size_t at, std::string found, std::string expected) const
    {
        return badInput("character " + std::to_string(policy::characterCount(m_text.substr(0, at)) + 1),
                        std::move(found), std::move(expected));
    }

    std::string_view m_text;
    std::span<const QueryField> m_fields;
    std::size_t m_at = 0; ///< behind the token ahead
    Token m_last; ///< the token before it
    Token m_ahead;
    int m_depth = 0;
    std::vector<QueryStep> m_steps;
};

/// Of what should follow the last token and does not.
Error QueryParser::missing(std::string expected) const
{
    const std::string found = m_ahead.kind == Token::Kind::End ? "nothing" : inQuotes(m_ahead.text);
    return error(m_ahead.at, m_last.text.empty() ? found : found + " after " + inQuotes(m_last.text),
                 std::move(expected));
}

/// Of what stands where a condition should.
Error QueryParser::noCondition() const
{
    const std::string found = inQuotes(m_ahead.text);
    if (m_ahead.kind == Token::Kind::Comma)
        return error(m_ahead.at, m_ahead.text == "," ? "a comma" : "a semicolon",
                     "\"and\" or \"or\" between conditions");
    if (m_ahead.kind == Token::Kind::Sign)
        return error(m_ahead.at, found + " without a field in front of it",
                     "for example " + std::string(m_fields.front().names.front()) + ' ' + m_ahead.text
                         + " …");
    const std::string expected = "a condition (write \"and\" in quotation marks to search for the word)";
    return m_ahead.joint() ? error(m_ahead.at, found + " without a condition in front of it", expected)
                           : missing(expected);
}

std::optional<std::size_t> QueryParser::fieldNamed(std::string_view name) const
{
    for (std::size_t k = 0; k < m_fields.size(); ++k)
        for (const std::string_view known : m_fields[k].names)
            if (bare(known) == bare(name))
                return k;
    return std::nullopt;
}

Error QueryParser::unknownField(const Token &name) const
{
    std::vector<std::string> names;
    for (const QueryField &field : m_fields)
        names.emplace_back(field.names.front());
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    return error(name.at,
                 "unknown field " + inQuotes(name.text) + didYouMean(nearestNames(name.text, candidates)),
                 "one of " + joined(names, names.size()));
}

Token QueryParser::token(Token::Kind kind, std::size_t end)
{
    const std::size_t begin = std::exchange(m_at, end);
    return {kind, std::string(m_text.substr(begin, end - begin)), begin};
}

/// Where the pattern ends that begins here; 0 for a '/' that no other one closes before a blank: it begins a name, as ONNX has them.
std::size_t QueryParser::patternEnd() const
{
    for (std::size_t at = m_at + 1; at < m_text.size(); ++at) {
        if (m_text[at] == '\\')
            ++at;
        else if (m_text[at] == '/')
            return at > m_at + 1 && (at + 1 == m_text.size() || isOneOf(m_text[at + 1], " \t\n),")) ? at + 1
                                                                                                    : 0;
    }
    return 0;
}

/// Where the word ends that begins here: a comma between digits is part of it, as in a shape, and a colon unless a field is before it.
std::size_t QueryParser::wordEnd() const
{
    std::size_t at = m_at;
    for (; at < m_text.size(); ++at) {
        const char next = at + 1 < m_text.size() ? m_text[at + 1] : ' ';
        if (isOneOf(m_text[at], kBlanks) || isOneOf(m_text[at], "()\"<>=!")
            || (m_text[at] == ',' && !(isOneOf(m_text[at - 1], kDigits) && isOneOf(next, kDigits)))
            || (m_text[at] == ';' && isOneOf(next, kBlanks))
            || (m_text[at] == ':' && fieldNamed(m_text.substr(m_at, at - m_at))))
            break;
    }
    return at;
}

Result<Token> QueryParser::readQuoted()
{
    Token read{Token::Kind::Quoted, {}, m_at};
    for (++m_at; m_at < m_text.size() && m_text[m_at] != '"'; ++m_at) {
        if (m_text[m_at] == '\\' && m_at + 1 < m_text.size())
            ++m_at;
        read.text += m_text[m_at];
    }
    if (m_at == m_text.size())
        return error(read.at, "an unclosed quotation mark", "\"text in quotation marks\"");
    ++m_at;
    return read;
}

Result<Token> QueryParser::readSign()
{
    const std::size_t end = std::min(m_text.find_first_not_of("<>=!", m_at), m_text.size());
    Token read = token(Token::Kind::Sign, std::max(end, m_at + 1));
    if (read.text == "==")
        read.text = "=";
    constexpr std::array<std::string_view, 7> kSigns{"<", "<=", ">", ">=", "=", "!=", ":"};
    if (std::ranges::find(kSigns, read.text) == kSigns.end())
        return error(read.at, "unknown comparison " + inQuotes(read.text), "<, <=, >, >=, = or !=");
    return read;
}

Result<Token> QueryParser::readToken()
{
    m_at = std::min(m_text.find_first_not_of(kBlanks, m_at), m_text.size());
    if (m_at == m_text.size())
        return Token{Token::Kind::End, {}, m_at};
    const char first = m_text[m_at];
    if (first == '"')
        return readQuoted();
    if (isOneOf(first, "<>=!:"))
        return readSign();
    if (first == '/' && patternEnd() > 0)
        return token(Token::Kind::Pattern, patternEnd());
    if (isOneOf(first, "(),;"))
        return token(first == '('       ? Token::Kind::Open
                         : first == ')' ? Token::Kind::Close
                                        : Token::Kind::Comma,
                     m_at + 1);
    return token(Token::Kind::Word, wordEnd());
}

Result<void> QueryParser::advance()
{
    m_last = std::move(m_ahead);
    HALFTONE_TRY(m_ahead, readToken());
    return {};
}

Result<void> QueryParser::addText(const Token &value, std::optional<std::size_t> field, StepKind kind)
{
    QueryStep step{kind, field, lowerCase(value.text)};
    if (value.kind == Token::Kind::Pattern) {
        step.kind = StepKind::Matches;
        HALFTONE_TRY(step.pattern,
                     policy::Pattern::compile(std::string_view(value.text).substr(1, value.text.size() - 2),
                                              policy::characterCount(m_text.substr(0, value.at + 1))));
    }
    m_steps.push_back(std::move(step));
    return {};
}

/// A number and its unit, in one word or two.
Result<void> QueryParser::readNumber(std::size_t field, const Token &sign)
{
    const QueryField &asked = m_fields[field];
    if (sign.text == ":")
        return error(sign.at, "\":\" after a numeric field", "<, <=, >, >=, = or !=");
    if (m_ahead.kind != Token::Kind::Word)
        return missing(numberFor(asked.kind));
    const std::string_view number = numberIn(m_ahead.text);
    const double bound = parseReal(number).value_or(0);
    Token written{Token::Kind::Word, m_ahead.text.substr(number.size()), m_ahead.at};
    const QueryUnit *unit = unitNamed(written.text);
    if (number.empty() || (!written.text.empty() && unit == nullptr))
        return error(m_ahead.at, inQuotes(m_ahead.text) + " is not a number", numberFor(asked.kind));
    HALFTONE_CHECK(advance());
    if (written.text.empty() && m_ahead.kind == Token::Kind::Word && unitNamed(m_ahead.text) != nullptr) {
        unit = unitNamed(m_ahead.text);
        written = m_ahead;
        HALFTONE_CHECK(advance());
    }
    if (unit != nullptr && unit->kind != asked.kind)
        return error(written.at, std::string(asked.names.front()) + " is not measured in " + written.text,
                     numberFor(asked.kind));
    m_steps.push_back(
        {StepKind::Compares, field, sign.text, {}, bound * (unit != nullptr ? unit->factor : 1)});
    return {};
}

Result<void> QueryParser::readText(std::size_t field, const Token &sign)
{
    const std::string name(m_fields[field].names.front());
    if (sign.text != "=" && sign.text != "!=" && sign.text != ":")
        return error(sign.at, inQuotes(sign.text) + " after a text field",
                     name + " = …, " + name + " != … or " + name + ":…");
    if (m_ahead.kind < Token::Kind::Word)
        return missing("a text, a \"text in quotation marks\" or a /pattern/");
    HALFTONE_CHECK(addText(m_ahead, field, sign.text == ":" ? StepKind::Part : StepKind::Whole));
    if (sign.text == "!=")
        m_steps.push_back({StepKind::Not});
    return advance();
}

/// What follows the name of a field, which was read.
Result<void> QueryParser::readComparison()
{
    const auto field = fieldNamed(m_last.text);
    if (!field)
        return unknownField(m_last);
    const Token sign = m_ahead;
    HALFTONE_CHECK(advance());
    return m_fields[*field].kind == Kind::Text ? readText(*field, sign) : readNumber(*field, sign);
}

/// `not`, parentheses, a comparison or what is to be found.
Result<void> QueryParser::readOne()
{
    const Token first = m_ahead;
    const bool isOpen = first.kind == Token::Kind::Open;
    if (!isOpen && (first.kind < Token::Kind::Word || first.joint().value_or(StepKind::Not) != StepKind::Not))
        return noCondition();
    if (++m_depth > kDeepest)
        return error(first.at, "a query that is nested too deeply",
                     "at most " + std::to_string(kDeepest) + " levels");
    HALFTONE_CHECK(advance());
    if (isOpen) {
        HALFTONE_CHECK(readAny());
        if (m_ahead.kind != Token::Kind::Close)
            return error(first.at, "unmatched \"(\"", "quotation marks around text with parentheses");
        HALFTONE_CHECK(advance());
    } else if (m_ahead.kind == Token::Kind::Sign) {
        HALFTONE_CHECK(readComparison());
    } else if (first.joint()) {
        HALFTONE_CHECK(readOne());
        m_steps.push_back({StepKind::Not});
    } else {
        HALFTONE_CHECK(addText(first, std::nullopt, StepKind::Part));
    }
    --m_depth;
    return {};
}

Result<void> QueryParser::readAll()
{
    HALFTONE_CHECK(readOne());
    while (m_ahead.kind != Token::Kind::End && m_ahead.kind != Token::Kind::Close
           && m_ahead.joint() != StepKind::Or) {
        if (m_ahead.joint() == StepKind::And)
            HALFTONE_CHECK(advance());
        HALFTONE_CHECK(readOne());
        m_steps.push_back({StepKind::And});
    }
    return {};
}

Result<void> QueryParser::readAny()
{
    HALFTONE_CHECK(readAll());
    while (m_ahead.joint() == StepKind::Or) {
        HALFTONE_CHECK(advance());
        HALFTONE_CHECK(readAll());
        m_steps.push_back({StepKind::Or});
    }
    return {};
}

/// Does a row hold? Of one that lacks what is asked for nobody knows, whether it is asked with `not` or without.
enum class Truth : std::uint8_t
{
    No,
    Unknown,
    Yes,
};
using Truths = std::vector<Truth>; ///< by row

/// NaN is a row that failed: as bad as can be.
bool compares(double value, Kind kind, const QueryStep &step)
{
    constexpr double kWorst = std::numeric_limits<double>::infinity();
    if (std::isnan(value))
        value = kind == Kind::Decibels ? -kWorst : kWorst;
    const std::string_view sign = step.text;
    if (sign.starts_with('<'))
        return sign == "<" ? value < step.bound : value <= step.bound;
    if (sign.starts_with('>'))
        return sign == ">" ? value > step.bound : value >= step.bound;
    return (value == step.bound) == (sign == "=");
}

Truth truthOf(const QueryTable &table, const QueryStep &step, std::size_t row, bool isWhole)
{
    const std::span<const QueryField> fields = table.fields();
    if (step.kind == StepKind::Compares) {
        const auto value = table.number(row, *step.field);
        return !value                                          ? Truth::Unknown
            : compares(*value, fields[*step.field].kind, step) ? Truth::Yes
                                                               : Truth::No;
    }
    const auto holds = [&](const std::string &text) {
        if (step.pattern)
            return step.pattern->matches(text);
        const std::string lower = lowerCase(text);
        return isWhole ? lower == step.text : lower.find(step.text) != std::string::npos;
    };
    Truth truth = Truth::Unknown;
    for (std::size_t field = 0; field < fields.size() && truth != Truth::Yes; ++field) {
        if (step.field ? field != *step.field : !fields[field].isSearched)
            continue;
        const std::vector<std::string> texts = table.texts(row, field);
        if (!texts.empty())
            truth = std::ranges::any_of(texts, holds) ? Truth::Yes : Truth::No;
    }
    return truth;
}

/// Which values a text has in a table, for a query that asked for none of them.
std::string otherValues(const QueryTable &table, std::size_t field, const std::string &wanted)
{
    constexpr std::size_t kMostValues = 12;
    std::set<std::string> values;
    for (std::size_t row = 0; row < table.rowCount(); ++row)
        if (const auto texts = table.texts(row, field); !texts.empty())
            values.insert(texts.front());
    const std::vector<std::string> listed(values.begin(), values.end());
    const std::vector<std::string_view> candidates(values.begin(), values.end());
    return "Nothing has " + std::string(table.fields()[field].names.front()) + ' ' + inQuotes(wanted)
        + didYouMean(nearestNames(wanted, candidates)) + ". Existing values: " + joined(listed, kMostValues)
        + '.';
}

/// Asks all rows at once. notes: are added to
Truths truthsOf(const QueryTable &table, const QueryStep &step, std::vector<std::string> &notes)
{
    const auto ask = [&](bool isWhole) {
        Truths all(table.rowCount());
        for (std::size_t row = 0; row < all.size(); ++row)
            all[row] = truthOf(table, step, row, isWhole);
        return all;
    };
    const auto isNone = [](const Truths &all) { return std::ranges::find(all, Truth::Yes) == all.end(); };
    Truths all = ask(step.kind == StepKind::Whole);
    std::string note;
    if (step.kind == StepKind::Compares) {
        if (std::ranges::count(all, Truth::Unknown) == std::ranges::ssize(all))
            note = table.fields()[*step.field].absent;
    } else if (step.kind == StepKind::Whole && table.fields()[*step.field].isClosed && isNone(all)) {
        all = ask(false);
        if (isNone(all))
            note = otherValues(table, *step.field, step.text);
    }
    if (!note.empty() && std::ranges::find(notes, note) == notes.end())
        notes.push_back(std::move(note));
    return all;
}

} // namespace

Result<Query> Query::parse(std::string_view text, std::span<const QueryField> fields)
{
    Query query;
    HALFTONE_TRY(query.m_steps, QueryParser(text, fields).parse());
    return query;
}

Query::Answer Query::ask(const QueryTable &table) const
{
    Answer answer;
    std::vector<Truths> stack;
    for (const QueryStep &step : m_steps) {
        if (step.kind > StepKind::Not) {
            stack.push_back(truthsOf(table, step, answer.notes));
            continue;
        }
        if (step.kind == StepKind::Not) {
            for (Truth &one : stack.back())
                one = Truth(static_cast<int>(Truth::Yes) - static_cast<int>(one));
            continue;
        }
        const Truths right = std::move(stack.back());
        stack.pop_back();
        for (std::size_t row = 0; row < right.size(); ++row) {
            Truth &left = stack.back()[row];
            left = step.kind == StepKind::And ? std::min(left, right[row]) : std::max(left, right[row]);
        }
    }
    for (std::size_t row = 0; !isEmpty() && row < table.rowCount(); ++row)
        if (stack.back()[row] == Truth::Yes)
            answer.rows.push_back(row);
    return answer;
}

} // namespace halftone::session
