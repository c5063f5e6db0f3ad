#include "core/policy/argument_scan.h"

#include "core/base/text.h"
#include "core/policy/policy_json.h"
#include "core/policy/wording.h"

#include <algorithm>
#include <cctype>

namespace halftone::policy {
namespace {

struct Token
{
    enum class Kind : std::uint8_t { Name, Text, Sign } kind = Kind::Sign;
    std::string text;
    std::size_t line = 1;
};

Error atLine(std::size_t line, std::string found, std::string expected)
{
    return badInput("line " + std::to_string(line), std::move(found), std::move(expected));
}

bool isWordSign(char sign)
{
    return std::isalnum(static_cast<unsigned char>(sign)) != 0 || sign == '_' || sign == '.';
}

/// Names (with dots; numbers too), texts and signs of Python or JSON; comments are left out.
class Tokens
{
public:
    explicit Tokens(std::string_view text)
        : m_text(text)
    {
    }

    Result<std::vector<Token>> read()
    {
        while (m_at < m_text.size()) {
            const char sign = m_text[m_at];
            if (sign == '#')
                m_at = std::min(m_text.find('\n', m_at), m_text.size());
            else if (sign == '"' || sign == '\'')
                HALFTONE_CHECK(readText());
            else if (isWordSign(sign))
                readName();
            else
                readSign(sign);
        }
        return std::move(m_tokens);
    }

private:
    void readSign(char sign)
    {
        if (std::isspace(static_cast<unsigned char>(sign)) == 0)
            m_tokens.push_back({Token::Kind::Sign, std::string(1, sign), m_line});
        m_line += sign == '\n' ? 1 : 0;
        ++m_at;
    }

    void readName()
    {
        const std::size_t begin = m_at;
        while (m_at < m_text.size() && isWordSign(m_text[m_at]))
            ++m_at;
        const std::string_view name = m_text.substr(begin, m_at - begin);
        const bool isPrefix = name.size() <= 2 && m_at < m_text.size()
            && (m_text[m_at] == '"' || m_text[m_at] == '\'') && std::ranges::all_of(name, [](char sign) {
                                  return std::string_view("rRbBuU").find(sign) != std::string_view::npos;
                              });
        m_isRaw = isPrefix && name.find_first_of("rR") != std::string_view::npos;
        if (!isPrefix)
            m_tokens.push_back({Token::Kind::Name, std::string(name), m_line});
    }

    Result<void> readText()
    {
        const bool isRaw = std::exchange(m_isRaw, false);
        const char quote = m_text[m_at];
        const bool isLong = m_text.substr(m_at).starts_with(std::string(3, quote));
        const std::string end(isLong ? 3 : 1, quote);
        const std::size_t line = m_line;
        std::string value;
        for (m_at += end.size(); !m_text.substr(m_at).starts_with(end); ++m_at) {
            if (m_at >= m_text.size() || (m_text[m_at] == '\n' && !isLong))
                return atLine(line, "a text without an end", "a closing quote");
            m_line += m_text[m_at] == '\n' ? 1 : 0;
            if (m_text[m_at] == '\\' && !isRaw && m_at + 1 < m_text.size())
                value += unescaped(m_text[++m_at]);
            else
                value += m_text[m_at];
        }
        m_at += end.size();
        m_tokens.push_back({Token::Kind::Text, std::move(value), line});
        return {};
    }

    /// Regular expressions keep what Python and JSON have no meaning for.
    static std::string unescaped(char sign)
    {
        switch (sign) {
        case 'n':
            return "\n";
        case 't':
            return "\t";
        case '\\':
        case '\'':
        case '"':
        case '/':
            return std::string(1, sign);
        default:
            return std::string("\\") + sign;
        }
    }

    std::string_view m_text;
    std::vector<Token> m_tokens;
    std::size_t m_at = 0;
    std::size_t m_line = 1;
    bool m_isRaw = false;
};

/// Reads the literal that begins at a token.
class Literal
{
public:
    Literal(std::span<const Token> tokens, std::size_t at, const std::string &key)
        : m_tokens(tokens)
        , m_at(at)
        , m_key(key)
    {
        m_value.line = at < tokens.size() ? tokens[at].line : 1;
    }

    Result<ArgumentValue> read()
    {
        HALFTONE_CHECK(readTerm());
        while (m_value.isList && (is("+") || is("|"))) {
            ++m_at;
            HALFTONE_CHECK(readTerm());
        }
        return std::move(m_value);
    }

private:
    bool is(std::string_view sign) const
    {
        return m_at < m_tokens.size() && m_tokens[m_at].kind == Token::Kind::Sign
            && m_tokens[m_at].text == sign;
    }

    Error noList() const
    {
        const std::string found
            = m_at < m_tokens.size() ? inQuotes(printable(m_tokens[m_at].text, 40)) : "the end";
        const std::size_t line = m_at < m_tokens.size() ? m_tokens[m_at].line : m_value.line;
        return atLine(line, found + " in " + m_key, "a list of names in quotes");
    }

    Result<void> readTerm()
    {
        if (is("[") || is("(") || is("{"))
            return readList();
        if (m_at >= m_tokens.size())
            return noList();
        const Token &token = m_tokens[m_at];
        if (token.kind == Token::Kind::Text) {
            m_value.names.push_back(token.text);
            m_value.text = token.text;
            ++m_at;
        } else if (token.kind == Token::Kind::Name) {
            return readName(token.text);
        } else {
            m_value.text = token.text; // a sign before a number
            ++m_at;
        }
        return {};
    }

    /// set([…]), list(…) and the like are what is in them; another name is a variable.
    Result<void> readName(const std::string &name)
    {
        ++m_at;
        m_value.isNone = name == "None" || name == "null";
        m_value.text = name;
        if (is("(")) {
            const bool isCollection
                = name == "set" || name == "list" || name == "tuple" || name == "frozenset";
            return isCollection ? readList() : Result<void>(noList());
        }
        if (is("+") || is("|") || m_value.isList) {
            m_value.isList = true;
            m_value.variables.push_back(name);
        }
        return {};
    }

    Result<void> readList()
    {
        m_value.isList = true;
        int open = 0;
        do {
            if (m_at >= m_tokens.size())
                return noList();
            const Token &token = m_tokens[m_at];
            if (is("[") || is("(") || is("{"))
                ++open;
            else if (is("]") || is(")") || is("}"))
                --open;
            else if (token.kind == Token::Kind::Text)
                takeText(token.text);
            else if (token.kind == Token::Kind::Name)
                m_value.variables.push_back(token.text);
            else if (token.text != "," && token.text != "*")
                return noList();
            ++m_at;
        } while (open > 0);
        return {};
    }

    /// Texts side by side are one.
    void takeText(const std::string &text)
    {
        if (m_at > 0 && m_tokens[m_at - 1].kind == Token::Kind::Text && !m_value.names.empty())
            m_value.names.back() += text;
        else
            m_value.names.push_back(text);
    }

    std::span<const Token> m_tokens;
    std::size_t m_at;
    const std::string &m_key;
    ArgumentValue m_value;
};

std::string_view lastPart(std::string_view name)
{
    const std::size_t dot = name.rfind('.');
    return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

using Arguments = std::map<std::string, ArgumentValue>;

/// KEY = …, "KEY": … and ["KEY"] = …, but not KEY == ….
Result<Arguments> inLiterals(std::span<const Token> tokens, std::span<const std::string> keys)
{
    Arguments found;
    const auto isSign = [&](std::size_t at, char sign) {
        return at < tokens.size() && tokens[at].kind == Token::Kind::Sign && tokens[at].text[0] == sign;
    };
    for (std::size_t at = 0; at + 1 < tokens.size(); ++at) {
        if (tokens[at].kind == Token::Kind::Sign)
            continue;
        const std::string key = plainKey(lastPart(tokens[at].text));
        if (std::ranges::find(keys, key) == keys.end())
            continue;
        const std::size_t equals = isSign(at + 1, ']') ? at + 2 : at + 1;
        const bool isGiven = isSign(equals, ':') || (isSign(equals, '=') && !isSign(equals + 1, '='));
        if (!isGiven)
            continue;
        HALFTONE_TRY(found[key], Literal(tokens, equals + 1, tokens[at].text).read());
    }
    return found;
}

struct Word
{
    std::string text;
    std::size_t line;
};

std::vector<Word> wordsOf(std::string_view text)
{
    std::vector<Word> words;
    std::size_t line = 1;
    bool isInWord = false;
    char quote = 0;
    for (const char sign : text) {
        const bool isSpace
            = quote == 0 && (std::isspace(static_cast<unsigned char>(sign)) != 0 || sign == '\\');
        const bool isQuote = quote == 0 ? sign == '"' || sign == '\'' : sign == quote;
        if (isQuote)
            quote = quote == 0 ? sign : '\0';
        if (!isSpace && !isInWord)
            words.push_back({{}, line});
        if (!isSpace && !isQuote)
            words.back().text += sign;
        isInWord = !isSpace;
        line += sign == '\n' ? 1 : 0;
    }
    return words;
}

/// --KEY word word …, --KEY=word, and KEY=a,b of an environment.
Arguments inWords(std::string_view text, std::span<const std::string> keys)
{
    Arguments found;
    ArgumentValue *open = nullptr;
    for (const Word &word : wordsOf(text)) {
        const bool isOption = word.text.starts_with("--");
        const std::size_t equals = word.text.find('=');
        const std::string key = plainKey(std::string_view(word.text).substr(0, equals));
        const bool isKey
            = (isOption || equals != std::string::npos) && std::ranges::find(keys, key) != keys.end();
        if (isKey) {
            open = &found[key];
            *open = {};
            open->isList = true;
            open->line = word.line;
        } else if (isOption) {
            open = nullptr;
        }
        if (open == nullptr || (isKey && equals == std::string::npos))
            continue;
        std::string_view rest
            = isKey ? std::string_view(word.text).substr(equals + 1) : std::string_view(word.text);
        while (!rest.empty()) {
            const std::size_t comma
                = isOption || !isKey ? rest.size() : std::min(rest.find(','), rest.size());
            open->names.emplace_back(rest.substr(0, comma));
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
        if (isKey && !isOption)
            open = nullptr;
    }
    for (auto &[key, value] : found)
        value.text = value.names.empty() ? "True" : value.names.front();
    return found;
}

} // namespace

std::string plainKey(std::string_view key)
{
    std::string plain;
    for (const char sign : key) {
        if (sign != '_' && sign != '-')
            plain += static_cast<char>(std::tolower(static_cast<unsigned char>(sign)));
    }
    return plain;
}

Result<std::map<std::string, ArgumentValue>> scanArguments(std::string_view text,
                                                           std::span<const std::string_view> keys)
{
    if (text.size() > kLongestPolicy)
        return badInput({}, humanBytes(text.size()), "at most " + humanBytes(kLongestPolicy));
    std::vector<std::string> plain;
    for (const std::string_view key : keys)
        plain.push_back(plainKey(key));
    Arguments words = inWords(text, plain);
    auto tokens = Tokens(text).read();
    if (!tokens.ok())
        return words.empty() ? Result<Arguments>(std::move(tokens).error()) : std::move(words);
    HALFTONE_TRY(Arguments found, inLiterals(tokens.value(), plain));
    // A line of a shell may look like a little of Python, too.
    if (words.size() > found.size())
        return words;
    for (const std::string_view key : keys) {
        const auto literal = found.find(plainKey(key));
        const bool isOpen = literal != found.end() && literal->second.names.empty();
        if (isOpen && std::isupper(static_cast<unsigned char>(key[0])) != 0 && words.contains(literal->first))
            literal->second = words.at(literal->first);
    }
    return found;
}

} // namespace halftone::policy
