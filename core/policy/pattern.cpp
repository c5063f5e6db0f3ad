#include "core/policy/pattern.h"

#include "core/base/text.h"

#include <re2/re2.h>

#include <algorithm>

namespace halftone::policy {
namespace {

/// Is it a byte of a character of UTF-8 that began before it?
bool isContinued(char byte)
{
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

RE2::Options optionsFor(std::string_view text)
{
    RE2::Options options;
    options.set_encoding(isUtf8(text) ? RE2::Options::EncodingUTF8 : RE2::Options::EncodingLatin1);
    options.set_dot_nl(true);
    options.set_never_capture(true);
    options.set_log_errors(false);
    return options;
}

/// What is wrong with a pattern, and what would be right.
struct PatternFault
{
    const char *found;
    const char *expected;
};

PatternFault faultOf(RE2::ErrorCode code)
{
    switch (code) {
    case RE2::ErrorMissingParen:
        return {"unmatched '('", "; write '\\(' to match the character itself"};
    case RE2::ErrorUnexpectedParen:
        return {"unmatched ')'", "; write '\\)' to match the character itself"};
    case RE2::ErrorMissingBracket:
        return {"unmatched '['", "; write '\\[' to match the character itself"};
    case RE2::ErrorBadCharClass:
    case RE2::ErrorBadCharRange:
        return {"an invalid range", "a range such as [a-z]"};
    case RE2::ErrorBadEscape:
        return {"an unknown escape", "\\d, \\w, \\s, \\b, or '\\' before punctuation"};
    case RE2::ErrorTrailingBackslash:
        return {"a '\\' at the end", "; write '\\\\' to match the character itself"};
    case RE2::ErrorRepeatArgument:
        return {"nothing to repeat",
                "; put a character or a group before it, or '\\' to match the character itself"};
    case RE2::ErrorRepeatOp:
        return {"two repetitions in a row", "one of *, + and ?"};
    case RE2::ErrorRepeatSize:
        return {"a repetition that is too large or reversed", "for example {2,5}"};
    default:
        return {"an unknown group", "(…), (?:…) or (?i)"};
    }
}

/// The bytes of the character class that `text` begins with; all of it if no ']' ends the class.
std::size_t lengthOfClass(std::string_view text)
{
    std::size_t at = text.starts_with("[^") ? 2 : 1;
    for (bool isFirst = true; at < text.size(); isFirst = false) {
        if (text[at] == ']' && !isFirst)
            return at + 1;
        if (const std::size_t end = text.substr(at).starts_with("[:") ? text.find(":]", at) : text.npos;
            end != text.npos)
            at = end + 2;
        else
            at += text[at] == '\\' ? 2 : 1;
    }
    return text.size();
}

/// The bytes of the escape that `text` begins with.
std::size_t lengthOfEscape(std::string_view text)
{
    const std::size_t end = text.starts_with("\\Q") ? text.find("\\E") : 0;
    return end == text.npos ? text.size() : end + 2;
}

/// The first ')' that closes nothing; if there is none, the first '(' that nothing closes. Needs: a text in which nothing before it is wrong.
std::size_t unmatchedParenthesis(std::string_view text)
{
    std::size_t first = 0;
    std::size_t depth = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view rest = text.substr(at);
        if (rest[0] == '(' && depth++ == 0)
            first = at;
        else if (rest[0] == ')' && depth-- == 0)
            return at;
        at += rest[0] == '\\' ? lengthOfEscape(rest) : rest[0] == '[' ? lengthOfClass(rest) : 1;
    }
    return first;
}

/// The part of `text` that the error is about: RE2 names it, and says not where it is.
std::string_view wrongPart(std::string_view text, const RE2 &expression, const RE2::Options &options)
{
    const RE2::ErrorCode code = expression.error_code();
    const std::string &named = expression.error_arg();
    if (code == RE2::ErrorMissingParen || code == RE2::ErrorUnexpectedParen)
        return text.substr(unmatchedParenthesis(text), 1);
    if (code == RE2::ErrorMissingBracket) // it names all from there on
        return text.substr(text.size() - std::min(named.size(), text.size()), 1);
    if (code == RE2::ErrorTrailingBackslash)
        return text.substr(text.size() - 1);
    for (std::size_t at = text.find(named); at != text.npos; at = text.find(named, at + 1)) {
        // Parsers read from the left: what is behind it has no part in the error.
        const std::string_view part = text.substr(at, named.size());
        if (RE2(text.substr(0, at + part.size()), options).error_code() == code)
            return part;
    }
    return text;
}

} // namespace

std::size_t characterCount(std::string_view text)
{
    return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, isContinued));
}

Result<Pattern> Pattern::compile(std::string_view text, std::size_t before)
{
    const auto placeOf = [before](std::string_view front) {
        return "character " + std::to_string(before + characterCount(front) + 1);
    };
    if (text.size() > kMostBytes)
        return badInput(placeOf(text.substr(0, kMostBytes)), "a pattern that is too long",
                        "at most " + grouped(kMostBytes) + " bytes");
    const RE2::Options options = optionsFor(text);
    Pattern pattern;
    const auto expression = std::make_shared<const RE2>(text, options);
    pattern.m_expression = expression;
    if (expression->ok())
        return pattern;
    const RE2::ErrorCode code = expression->error_code();
    if (code == RE2::ErrorPatternTooLarge || code == RE2::ErrorInternal)
        return badInput(placeOf({}), "a pattern that is too large", "fewer repetitions");
    const std::string_view part = wrongPart(text, *expression, options);
    const PatternFault fault = faultOf(code);
    return badInput(placeOf({text.data(), static_cast<std::size_t>(part.data() - text.data())}), fault.found,
                    fault.expected);
}

bool Pattern::matches(std::string_view name) const
{
    return RE2::PartialMatch(name, *m_expression);
}

} // namespace halftone::policy
