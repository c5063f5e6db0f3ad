#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <numeric>

namespace halftone {
namespace {

/// Terminals obey these too: U+009B begins a command as ESC [ does.
bool isControl(std::string_view character)
{
    const auto first = static_cast<unsigned char>(character[0]);
    return first < 0x20 || first == 0x7F
        || (first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0);
}

/// Length of the valid UTF-8 sequence at the start of `text`, 0 when it is none. Overlong forms and
/// surrogates are not told apart.
std::size_t utf8Length(std::string_view text)
{
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t length = lead < 0x80 ? 1
        : lead < 0xC2                      ? 0
        : lead < 0xE0                      ? 2
        : lead < 0xF0                      ? 3
        : lead < 0xF5                      ? 4
                                           : 0;
    if (length == 0 || length > text.size())
        return 0;
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
    return std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(length), continues)
        ? length
        : 0;
}

/// What withoutMarks() shows for the character at the start of `text`; empty: it is no mark. All marks are of two or three bytes.
std::string_view shownMark(std::string_view text)
{
    struct Mark
    {
        std::string_view bytes;
        std::string_view shown;
    };
    static constexpr std::array<Mark, 14> kMarks{{
        {"\u061C", "\\u061c"}, // Arabic letter mark
        {"\u200E", "\\u200e"}, // left-to-right and right-to-left marks
        {"\u200F", "\\u200f"},
        {"\u2028", "\\u2028"}, // line and paragraph separators
        {"\u2029", "\\u2029"},
        {"\u202A", "\\u202a"}, // embeddings, their end and overrides
        {"\u202B", "\\u202b"},
        {"\u202C", "\\u202c"},
        {"\u202D", "\\u202d"},
        {"\u202E", "\\u202e"},
        {"\u2066", "\\u2066"}, // isolates and their end
        {"\u2067", "\\u2067"},
        {"\u2068", "\\u2068"},
        {"\u2069", "\\u2069"},
    }};
    const auto lead = static_cast<unsigned char>(text.front());
    if (lead != 0xD8 && lead != 0xE2)
        return {};
    const auto *const found
        = std::ranges::find_if(kMarks, [text](const Mark &mark) { return text.starts_with(mark.bytes); });
    return found == kMarks.end() ? std::string_view() : found->shown;
}

char lower(char c)
{
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

std::size_t editDistance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replace = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replace});
        }
    }
    return row.back();
}

} // namespace

std::string printable(std::string_view text, std::size_t limit)
{
    static constexpr std::string_view kHex = "0123456789abcdef";
    std::string out;
    out.reserve(std::min(text.size(), limit));
    while (!text.empty()) {
        if (out.size() >= limit)
            return out + "…";
        const std::size_t length = utf8Length(text);
        const std::string_view mark = shownMark(text);
        const bool isShown = length > 0 && !isControl(text.substr(0, length));
        const auto byte = static_cast<unsigned char>(text.front());
        if (!mark.empty())
            out += mark;
        else if (isShown)
            out += text.substr(0, length);
        else
            out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
        text.remove_prefix(isShown ? length : 1);
    }
    return out;
}

std::string withoutMarks(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::string_view mark = shownMark(text);
        const std::size_t length = mark.empty() ? 1 : utf8Length(text);
        out += mark.empty() ? text.substr(0, 1) : mark;
        text.remove_prefix(length);
    }
    return out;
}

std::string lowerCase(std::string_view text)
{
    std::string lowered(text);
    std::ranges::transform(lowered, lowered.begin(), lower);
    return lowered;
}

bool isUtf8(std::string_view text)
{
    while (!text.empty()) {
        const std::size_t length = utf8Length(text);
        if (length == 0)
            return false;
        text.remove_prefix(length);
    }
    return true;
}

std::vector<std::string> nearestNames(std::string_view name, std::span<const std::string_view> candidates)
{
    constexpr std::size_t kLongest = 256;
    constexpr std::size_t kMost = 3;
    if (name.empty() || name.size() > kLongest)
        return {};
    const std::size_t limit = std::max<std::size_t>(1, name.size() / 3);
    std::vector<std::pair<std::size_t, std::string_view>> near;
    for (const std::string_view candidate : candidates) {
        const std::size_t gap
            = std::max(candidate.size(), name.size()) - std::min(candidate.size(), name.size());
        if (gap > limit || candidate.size() > kLongest)
            continue;
        if (const std::size_t distance = editDistance(name, candidate); distance <= limit)
            near.emplace_back(distance, candidate);
    }
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(near.size(), kMost); ++i)
        names.emplace_back(near[i].second);
    return names;
}

std::string didYouMean(std::span<const std::string> names)
{
    return names.empty() ? std::string() : " (did you mean " + joined(names) + "?)";
}

std::string joined(std::span<const std::string> names, std::size_t limit)
{
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), limit); ++i)
        text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > limit)
        text += " and " + std::to_string(names.size() - limit) + " more";
    return text;
}

std::optional<std::int64_t> parseInteger(std::string_view text)
{
    if (text.starts_with('+'))
        text.remove_prefix(1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || text.empty())
        return std::nullopt;
    return value;
}

std::optional<double> parseReal(std::string_view text)
{
    if (text.starts_with('+'))
        text.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || text.empty())
        return std::nullopt;
    return value;
}

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view kBlank = " \t\r\n";
    const std::size_t first = text.find_first_not_of(kBlank);
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string humanBytes(std::uint64_t bytes)
{
    constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < kUnits.size()) {
        value /= 1024;
        ++unit;
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f " : "%.1f ", value);
    return text.data() + std::string(kUnits[unit]);
}

std::string grouped(std::uint64_t count)
{
    std::string digits = std::to_string(count);
    for (std::size_t at = digits.size(); at > 3; at -= 3)
        digits.insert(at - 3, 1, ',');
    return digits;
}

} // namespace halftone
