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

constexpr int kDeepest = 100; ///< parentheses and `not` within each other
constexpr std::size_t kMostValues = 12; ///< that a note lists

struct QueryUnit
{
    std::string_view name;
    Kind kind;
    double factor;
};
constexpr std::array kUnits{
    QueryUnit{"us", Kind::Time, 1},      QueryUnit{"\u00b5s", Kind::Time, 1},
    QueryUnit{"\u03bcs", Kind::Time, 1}, QueryUnit{"ns", Kind::Time, 1e-3},
    QueryUnit{"ms", Kind::Time, 1e3},    QueryUnit{"s", Kind::Time, 1e6},
    QueryUnit{"db", Kind::Decibels, 1},  QueryUnit{"%", Kind::Ratio, 0.01},
};

const QueryUnit *unitNamed(std::string_view text)
{
    const auto found = std::ranges::find(kUnits, lowerCase(text), &QueryUnit::name);
    return found == kUnits.end() ? nullptr : &*found;
}

/// What a comparison of a field of this kind looks like behind its sign.
std::string_view numberFor(Kind kind)
{
    switch (kind) {
    case Kind::Time:
        return "a time such as 100us, 2ms or 1s";
    case Kind::Decibels:
        return "a number such as 30 or 30dB";
    case Kind::Ratio:
        return "a number such as 0.01 or 1%";
    default:
        return "a number such as 1";
    }
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

std::string shapeKey(std::string text)
{
    for (const std::string_view sign : {std::string_view("\u00d7"), std::string_view(",")})
        for (std::size_t at = text.find(sign); at != std::string::npos; at = text.find(sign, at))
            text.replace(at, sign.size(), "x");
    return text;
}

/// As texts are held against each other.
std::string key(std::string_view text, Kind kind)
{
    const std::string lower = lowerCase(text);
    return kind == Kind::Shape ? shapeKey(lower) : lower;
}

/// The number that a word begins with; empty: none.
std::string_view numberIn(std::string_view word)
{
    while (!word.empty() && !parseReal(word))
        word.remove_suffix(1);
    return word;
}

bool isBlank(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

bool isDigit(char byte)
{
    return byte >= '0' && byte <= '9';
}

struct Token
{
    enum class Kind : std::uint8_t { End, Open, Close, Sign, Comma, Word, Quoted, Pattern } kind = Kind::End;
    std::string text{};
    std::size_t at = 0; ///< its first byte

    bool isText() const { return kind == Kind::Word || kind == Kind::Quoted || kind == Kind::Pattern; }
    bool isSaying(std::string_view word, std::string_view shouted, std::string_view sign) const
    {
        return kind == Kind::Word && (text == word || text == shouted || text == sign);
    }
    bool isAnd() const { return isSaying("and", "AND", "&&"); }
    bool isOr() const { return isSaying("or", "OR", "||"); }
    bool isNot() const { return isSaying("not", "NOT", "not"); }
};

/// Does a row hold? Of one that lacks what is asked for nobody knows, whether it is asked with `not` or without.
enum class Truth : std::uint8_t
{
    No,
    Unknown,
    Yes,
};

Truth truth(bool holds)
{
    return holds ? Truth::Yes : Truth::No;
}

bool compares(double value, std::string_view sign, double bound)
{
    if (sign == "<")
        return value < bound;
    if (sign == "<=")
        return value <= bound;
    if (sign == ">")
        return value > bound;
    if (sign == ">=")
        return value >= bound;
    return (value == bound) == (sign == "=");
}

} // namespace

/// Reads a query from left to right, with one token of its own ahead.
class QueryParser
{
public:
    QueryParser(std::string_view text, std::span<const QueryField> fields)
        : m_text(text)
        , m_fields(fields)
    {
    }

    Result<Query> parse();

private:
    using Step = Query::Step;

    Result<void> advance();
    Result<Token> readToken();
    Token token(Token::Kind kind, std::size_t length);
    std::optional<std::size_t> patternEnd() const;
    std::size_t wordEnd() const;
    Result<Token> readQuoted();
    Result<Token> readSign();

    Result<void> readAny();
    Result<void> readAll();
    Result<void> readOne();
    Result<void> readInParentheses();
    Result<void> readComparison(const Token &name);
    Result<void> readNumber(std::size_t field, const Token &sign);
    Result<void> readText(std::size_t field, const Token &sign);
    Result<Step> stepFor(const Token &value, std::optional<std::size_t> field, bool isWhole) const;
    void add(Step::Kind kind) { m_query.m_steps.push_back({kind}); }

    std::optional<std::size_t> fieldNamed(std::string_view name) const;
    Error unknownField(const Token &name) const;
    Error error(std::size_t at, std::string found, std::string expected) const;
    Error missing(std::string_view after, std::string expected) const;

    std::string_view m_text;
    std::span<const QueryField> m_fields;
    std::size_t m_at = 0; ///< behind the token ahead
    Token m_ahead;
    int m_depth = 0;
    Query m_query;
};

Error QueryParser::error(std::size_t at, std::string found, std::string expected) const
{
    return badInput("character " + std::to_string(policy::characterCount(m_text.substr(0, at)) + 1),
                    std::move(found), std::move(expected));
}

/// Of what should follow and does not.
Error QueryParser::missing(std::string_view after, std::string expected) const
{
    if (m_ahead.kind == Token::Kind::End)
        return error(m_text.size(), "nothing after " + inQuotes(after), std::move(expected));
    return error(m_ahead.at, inQuotes(m_ahead.text) + " after " + inQuotes(after), std::move(expected));
}

std::optional<std::size_t> QueryParser::fieldNamed(std::string_view name) const
{
    for (std::size_t k = 0; k < m_fields.size(); ++k) {
        if (std::ranges::any_of(m_fields[k].names,
                                [&](std::string_view known) { return bare(known) == bare(name); }))
            return k;
    }
    return std::nullopt;
}

Error QueryParser::unknownField(const Token &name) const
{
    std::vector<std::string_view> all;
    std::vector<std::string> first;
    for (const QueryField &field : m_fields) {
        all.insert(all.end(), field.names.begin(), field.names.end());
        first.emplace_back(field.names.front());
    }
    return error(name.at, "unknown field " + inQuotes(name.text) + didYouMean(nearestNames(name.text, all)),
                 "one of " + joined(first, first.size()));
}

Token QueryParser::token(Token::Kind kind, std::size_t length)
{
    Token token{kind, std::string(m_text.substr(m_at, length)), m_at};
    m_at += length;
    return token;
}

/// Where the pattern ends that begins here. A '/' that no other one closes before a blank begins a name, as ONNX has them.
std::optional<std::size_t> QueryParser::patternEnd() const
{
    for (std::size_t at = m_at + 1; at < m_text.size(); ++at) {
        if (m_text[at] == '\\') {
            ++at;
        } else if (m_text[at] == '/') {
            const bool isLast = at + 1 == m_text.size() || isBlank(m_text[at + 1]) || m_text[at + 1] == ')'
                || m_text[at + 1] == ',';
            return isLast && at > m_at + 1 ? std::optional(at + 1) : std::nullopt;
        }
    }
    return std::nullopt;
}

/// Where the word ends that begins here: a comma between digits is part of it, as in a shape, and a colon unless a field is before it.
std::size_t QueryParser::wordEnd() const
{
    std::size_t at = m_at;
    for (; at < m_text.size(); ++at) {
        const char byte = m_text[at];
        const bool isLast = at + 1 == m_text.size();
        if (isBlank(byte) || std::string_view("()\"<>=!").find(byte) != std::string_view::npos)
            break;
        if (byte == ',' && (isLast || !isDigit(m_text[at + 1]) || at == m_at || !isDigit(m_text[at - 1])))
            break;
        if (byte == ';' && (isLast || isBlank(m_text[at + 1])))
            break;
        if (byte == ':' && (at == m_at || fieldNamed(m_text.substr(m_at, at - m_at))))
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
        return error(read.at, "a quotation mark without its second", "\"text in quotation marks\"");
    ++m_at;
    return read;
}

Result<Token> QueryParser::readSign()
{
    const std::size_t end = std::min(m_text.find_first_not_of("<>=!", m_at), m_text.size());
    Token read = token(Token::Kind::Sign, std::max<std::size_t>(end - m_at, 1));
    if (read.text == "==")
        read.text = "=";
    constexpr std::array<std::string_view, 7> kSigns{"<", "<=", ">", ">=", "=", "!=", ":"};
    if (std::ranges::find(kSigns, read.text) == kSigns.end())
        return error(read.at, "unknown comparison " + inQuotes(read.text), "<, <=, >, >=, = or !=");
    return read;
}

Result<Token> QueryParser::readToken()
{
    while (m_at < m_text.size() && isBlank(m_text[m_at]))
        ++m_at;
    if (m_at == m_text.size())
        return Token{Token::Kind::End, {}, m_at};
    switch (m_text[m_at]) {
    case '(':
        return token(Token::Kind::Open, 1);
    case ')':
        return token(Token::Kind::Close, 1);
    case ',':
    case ';':
        return token(Token::Kind::Comma, 1);
    case '"':
        return readQuoted();
    case '<':
    case '>':
    case '=':
    case '!':
    case ':':
        return readSign();
    case '/':
        if (const auto end = patternEnd())
            return token(Token::Kind::Pattern, *end - m_at);
        break;
    default:
        break;
    }
    return token(Token::Kind::Word, wordEnd() - m_at);
}

Result<void> QueryParser::advance()
{
    HALFTONE_TRY(m_ahead, readToken());
    return {};
}

Result<Query::Step> QueryParser::stepFor(const Token &value, std::optional<std::size_t> field,
                                         bool isWhole) const
{
    Step step{isWhole ? Step::Kind::Whole : Step::Kind::Part, field};
    if (value.kind == Token::Kind::Pattern) {
        step.kind = Step::Kind::Matches;
        const std::string_view text(value.text);
        HALFTONE_TRY(step.pattern,
                     policy::Pattern::compile(text.substr(1, text.size() - 2),
                                              policy::characterCount(m_text.substr(0, value.at + 1))));
    } else {
        step.text = key(value.text, field ? m_fields[*field].kind : Kind::Text);
    }
    return step;
}

/// A number and its unit, in one word or two.
Result<void> QueryParser::readNumber(std::size_t field, const Token &sign)
{
    const QueryField &asked = m_fields[field];
    const std::string expected(numberFor(asked.kind));
    if (sign.text == ":")
        return error(sign.at, "\":\" after a number's name", "<, <=, >, >=, = or !=");
    if (m_ahead.kind != Token::Kind::Word)
        return missing(sign.text, expected);
    const Token value = m_ahead;
    const std::string_view number = numberIn(value.text);
    const std::string_view rest = std::string_view(value.text).substr(number.size());
    const QueryUnit *unit = unitNamed(rest);
    if (number.empty() || (!rest.empty() && unit == nullptr))
        return error(value.at, inQuotes(value.text) + " is not a number", expected);
    HALFTONE_CHECK(advance());
    std::size_t place = value.at;
    std::string written(rest);
    if (rest.empty() && m_ahead.kind == Token::Kind::Word) {
        unit = unitNamed(m_ahead.text);
        if (unit != nullptr) {
            place = m_ahead.at;
            written = m_ahead.text;
            HALFTONE_CHECK(advance());
        }
    }
    if (unit != nullptr && unit->kind != asked.kind)
        return error(place, std::string(asked.names.front()) + " is not measured in " + written, expected);
    Step step{Step::Kind::Compares, field};
    step.sign = sign.text;
    step.bound = *parseReal(number) * (unit != nullptr ? unit->factor : 1);
    m_query.m_steps.push_back(std::move(step));
    return {};
}

Result<void> QueryParser::readText(std::size_t field, const Token &sign)
{
    const std::string name(m_fields[field].names.front());
    if (sign.text != "=" && sign.text != "!=" && sign.text != ":")
        return error(sign.at, inQuotes(sign.text) + " after a text's name",
                     name + " = …, " + name + " != … or " + name + ":…");
    if (!m_ahead.isText())
        return missing(sign.text, "a text, a \"text in quotation marks\" or a /pattern/");
    HALFTONE_TRY(Step step, stepFor(m_ahead, field, sign.text != ":"));
    m_query.m_steps.push_back(std::move(step));
    if (sign.text == "!=")
        add(Step::Kind::Not);
    return advance();
}

/// What follows the name of a field, whose sign is ahead.
Result<void> QueryParser::readComparison(const Token &name)
{
    const auto field = fieldNamed(name.text);
    if (!field)
        return unknownField(name);
    const Token sign = m_ahead;
    HALFTONE_CHECK(advance());
    const Kind kind = m_fields[*field].kind;
    return kind == Kind::Text || kind == Kind::Shape ? readText(*field, sign) : readNumber(*field, sign);
}

Result<void> QueryParser::readInParentheses()
{
    const std::size_t opened = m_ahead.at;
    HALFTONE_CHECK(advance());
    HALFTONE_CHECK(readAny());
    if (m_ahead.kind != Token::Kind::Close)
        return error(opened, "a \"(\" without its \")\"", "quotation marks around text with parentheses");
    return advance();
}

/// `not`, parentheses, a comparison or what is to be found.
Result<void> QueryParser::readOne()
{
    if (m_depth == kDeepest)
        return error(m_ahead.at, "a query that is nested too deeply",
                     "at most " + std::to_string(kDeepest) + " levels");
    ++m_depth;
    const Token first = m_ahead;
    Result<void> read;
    if (first.kind == Token::Kind::Open) {
        read = readInParentheses();
    } else {
        HALFTONE_CHECK(advance());
        if (first.isNot() && m_ahead.kind != Token::Kind::Sign) {
            if (m_ahead.kind == Token::Kind::End || m_ahead.kind == Token::Kind::Close)
                return missing(first.text, "a condition, or \"not\" in quotation marks for the word");
            read = readOne();
            add(Step::Kind::Not);
        } else if (m_ahead.kind == Token::Kind::Sign) {
            read = readComparison(first);
        } else {
            HALFTONE_TRY(Step step, stepFor(first, std::nullopt, false));
            m_query.m_steps.push_back(std::move(step));
        }
    }
    --m_depth;
    return read;
}

Result<void> QueryParser::readAll()
{
    for (bool isFirst = true;; isFirst = false) {
        const bool isJoined = !isFirst && m_ahead.isAnd();
        const std::string sign = m_ahead.text;
        if (isJoined)
            HALFTONE_CHECK(advance());
        switch (m_ahead.kind) {
        case Token::Kind::Comma:
            return error(m_ahead.at, m_ahead.text == "," ? "a comma" : "a semicolon",
                         "\"and\" or \"or\" between conditions");
        case Token::Kind::Sign:
            return error(m_ahead.at, inQuotes(m_ahead.text) + " without a field in front of it",
                         "for example " + std::string(m_fields.front().names.front()) + ' ' + m_ahead.text
                             + " …");
        case Token::Kind::End:
        case Token::Kind::Close:
            if (isJoined)
                return missing(sign, "a condition");
            if (isFirst)
                return error(m_ahead.at, "nothing where a condition should be", "for example a name");
            return {};
        default:
            break;
        }
        if (m_ahead.isAnd() || m_ahead.isOr()) {
            if (!isFirst && !isJoined)
                return {};
            return error(m_ahead.at, inQuotes(m_ahead.text) + " without a condition in front of it",
                         "a condition, or " + inQuotes(m_ahead.text) + " in quotation marks for the word");
        }
        HALFTONE_CHECK(readOne());
        if (!isFirst)
            add(Step::Kind::And);
    }
}

Result<void> QueryParser::readAny()
{
    HALFTONE_CHECK(readAll());
    while (m_ahead.isOr()) {
        const std::string sign = m_ahead.text;
        HALFTONE_CHECK(advance());
        if (m_ahead.kind == Token::Kind::End || m_ahead.kind == Token::Kind::Close)
            return missing(sign, "a condition");
        HALFTONE_CHECK(readAll());
        add(Step::Kind::Or);
    }
    return {};
}

Result<Query> QueryParser::parse()
{
    HALFTONE_CHECK(advance());
    if (m_ahead.kind == Token::Kind::End)
        return std::move(m_query);
    HALFTONE_CHECK(readAny());
    if (m_ahead.kind == Token::Kind::Close)
        return error(m_ahead.at, "a \")\" without its \"(\"", "quotation marks around text with parentheses");
    return std::move(m_query);
}

Result<Query> Query::parse(std::string_view text, std::span<const QueryField> fields)
{
    return QueryParser(text, fields).parse();
}

namespace {

using Truths = std::vector<Truth>;

bool holds(const std::vector<std::string> &texts, Kind kind, const std::string &wanted, bool isWhole)
{
    return std::ranges::any_of(texts, [&](const std::string &text) {
        const std::string held = key(text, kind);
        return isWhole ? held == wanted : held.find(wanted) != std::string::npos;
    });
}

/// NaN is a row that failed: as bad as can be.
double asWorst(double value, Kind kind)
{
    constexpr double kLimit = std::numeric_limits<double>::infinity();
    return !std::isnan(value) ? value : kind == Kind::Decibels ? -kLimit : kLimit;
}

/// Which values a text has in a table, for a query that asked for none of them.
std::string noteOf(const QueryTable &table, std::size_t field, const std::string &wanted)
{
    std::set<std::string> values;
    for (std::size_t row = 0; row < table.rowCount(); ++row) {
        const std::vector<std::string> texts = table.texts(row, field);
        if (!texts.empty())
            values.insert(texts.front());
    }
    const std::vector<std::string> listed(values.begin(), values.end());
    const std::vector<std::string_view> near(values.begin(), values.end());
    return "No " + std::string(table.fields()[field].names.front()) + " here is " + inQuotes(wanted)
        + didYouMean(nearestNames(wanted, near)) + ". There are " + joined(listed, kMostValues) + '.';
}

} // namespace

/// Asks the rows of one table step by step.
class QueryAsker
{
public:
    explicit QueryAsker(const QueryTable &table)
        : m_table(table)
    {
    }

    void take(const Query::Step &step)
    {
        using StepKind = Query::Step::Kind;
        if (step.kind == StepKind::Not) {
            for (Truth &one : m_stack.back())
                one = Truth(static_cast<int>(Truth::Yes) - static_cast<int>(one));
        } else if (step.kind == StepKind::And || step.kind == StepKind::Or) {
            const Truths right = std::move(m_stack.back());
            m_stack.pop_back();
            Truths &left = m_stack.back();
            for (std::size_t row = 0; row < left.size(); ++row)
                left[row] = step.kind == StepKind::And ? std::min(left[row], right[row])
                                                       : std::max(left[row], right[row]);
        } else if (step.kind == StepKind::Compares) {
            m_stack.push_back(compared(step));
        } else {
            m_stack.push_back(step.field ? asked(step) : searched(step));
        }
    }

    Query::Answer answer() &&
    {
        Query::Answer answer{{}, std::move(m_notes)};
        for (std::size_t row = 0; row < m_table.rowCount(); ++row) {
            if (m_stack.back()[row] == Truth::Yes)
                answer.rows.push_back(row);
        }
        return answer;
    }

private:
    template <class Of>
    Truths truths(Of of) const
    {
        Truths all(m_table.rowCount());
        for (std::size_t row = 0; row < all.size(); ++row)
            all[row] = of(row);
        return all;
    }

    Truths compared(const Query::Step &step)
    {
        const QueryField &field = m_table.fields()[*step.field];
        bool isKnown = false;
        Truths all = truths([&](std::size_t row) {
            const auto value = m_table.number(row, *step.field);
            isKnown = isKnown || value.has_value();
            return value ? truth(compares(asWorst(*value, field.kind), step.sign, step.bound))
                         : Truth::Unknown;
        });
        if (!isKnown)
            tell(std::string(field.absent));
        return all;
    }

    Truths asked(const Query::Step &step)
    {
        const QueryField &field = m_table.fields()[*step.field];
        const auto rows = [&](bool isWhole) {
            return truths([&](std::size_t row) {
                const std::vector<std::string> texts = m_table.texts(row, *step.field);
                if (texts.empty())
                    return Truth::Unknown;
                return truth(step.pattern ? std::ranges::any_of(
                                 texts, [&](const std::string &text) { return step.pattern->matches(text); })
                                          : holds(texts, field.kind, step.text, isWhole));
            });
        };
        const auto isNone = [](const Truths &all) { return std::ranges::find(all, Truth::Yes) == all.end(); };
        const bool isWhole = step.kind == Query::Step::Kind::Whole;
        Truths all = rows(isWhole);
        if (isWhole && field.mayBePart && isNone(all))
            all = rows(false);
        if (isWhole && field.isClosed && isNone(all))
            tell(noteOf(m_table, *step.field, step.text));
        return all;
    }

    Truths searched(const Query::Step &step) const
    {
        const std::span<const QueryField> fields = m_table.fields();
        return truths([&](std::size_t row) {
            for (std::size_t k = 0; k < fields.size(); ++k) {
                if (!fields[k].isSearched)
                    continue;
                const std::vector<std::string> texts = m_table.texts(row, k);
                const bool isFound = step.pattern
                    ? std::ranges::any_of(
                        texts, [&](const std::string &text) { return step.pattern->matches(text); })
                    : holds(texts, fields[k].kind, key(step.text, fields[k].kind), false);
                if (isFound)
                    return Truth::Yes;
            }
            return Truth::No;
        });
    }

    void tell(std::string note)
    {
        if (!note.empty() && std::ranges::find(m_notes, note) == m_notes.end())
            m_notes.push_back(std::move(note));
    }

    const QueryTable &m_table;
    std::vector<Truths> m_stack;
    std::vector<std::string> m_notes;
};

Query::Answer Query::ask(const QueryTable &table) const
{
    if (isEmpty())
        return {};
    QueryAsker asker(table);
    for (const Step &step : m_steps)
        asker.take(step);
    return std::move(asker).answer();
}

} // namespace halftone::session
