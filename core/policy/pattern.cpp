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
        return {"unmatched '('", "'\\(' for the character itself"};
    case RE2::ErrorUnexpectedParen:
        return {"unmatched ')'", "'\\)' for the character itself"};
    case RE2::ErrorMissingBracket:
        return {"unmatched '['", "'\\[' for the character itself"};
    case RE2::ErrorBadCharClass:
    case RE2::ErrorBadCharRange:
        return {"an invalid range", "a range such as [a-z]"};
    case RE2::ErrorBadEscape:
        return {"an unknown escape", "\\d, \\w, \\s, \\b, or '\\' before punctuation"};
    case RE2::ErrorTrailingBackslash:
        return {"a '\\' at the end", "'\\\\' for the character itself"};
    case RE2::ErrorRepeatArgument:
        return {"nothing to repeat", "a character or group before it, or '\\' for the character itself"};
    case RE2::ErrorRepeatOp:
        return {"two repetitions in a row", "one of *, + and ?"};
    case RE2::ErrorRepeatSize:
        return {"a repetition that is too large or reversed", "for example {2,5}"};
    default:
        return {"an unknown group", "(…), (?:…) or (?i)"};
    }
}

/// Does `front` end inside a character of the text that it begins?
bool isInside(std::string_view front, std::string_view text)
{
    return front.size() < text.size() && !front.empty() && isContinued(text[front.size()]);
}

/// The part of `text` that the error is about: RE2 says what it is, not where. Parsers read from the left, so it ends with the shortest
/// beginning of the text that is wrong for the same reason.
std::string_view wrongPart(std::string_view text, const RE2::Options &options, RE2::ErrorCode code,
                           std::size_t length)
{
    for (std::string_view shorter = text; !shorter.empty();) {
        do
            shorter.remove_suffix(1);
        while (isInside(shorter, text));
        if (RE2(shorter, options).error_code() != code)
            break;
        text = shorter;
    }
    const bool isBracket = code == RE2::ErrorMissingParen || code == RE2::ErrorUnexpectedParen
        || code == RE2::ErrorMissingBracket;
    const std::size_t width = isBracket || length == 0 ? 1 : std::min(length, text.size());
    return text.substr(text.size() - width);
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
    const std::string_view part = wrongPart(text, options, code, expression->error_arg().size());
    const PatternFault fault = faultOf(code);
    return badInput(placeOf({text.data(), static_cast<std::size_t>(part.data() - text.data())}), fault.found,
                    fault.expected);
}

bool Pattern::matches(std::string_view name) const
{
    return RE2::PartialMatch(name, *m_expression);
}

} // namespace halftone::policy
