#include "core/io/sniff.h"

#include "core/base/text.h"
#include "core/io/foreign_formats.h"

#include <array>
#include <optional>
#include <string>

namespace halftone::io {
namespace {

using std::string_view_literals::operator""sv;

struct Signature
{
    std::string_view start;
    std::string_view what;
};

constexpr std::array kForeign{
    Signature{"\xEF\xBB\xBF"sv, "text with a byte order mark"},
    Signature{"\xFF\xFE"sv, "UTF-16 text"},
    Signature{"\xFE\xFF"sv, "UTF-16 text"},
    Signature{"{\0"sv, "UTF-16 text"},
    Signature{"\0{"sv, "UTF-16 text"},
    Signature{"PK\x03\x04"sv, "a zip archive"},
    Signature{"PK\x05\x06"sv, "an empty zip archive"},
    Signature{"\x1F\x8B"sv, "a gzip archive"},
    Signature{"\x93NUMPY"sv, "a NumPy array"},
    Signature{"\x80\x02"sv, "a Python pickle"},
    Signature{"\x80\x03"sv, "a Python pickle"},
    Signature{"\x80\x04"sv, "a Python pickle"},
    Signature{"version https://git-lfs"sv, "a Git LFS pointer (the file itself was not fetched)"},
};

bool looksLikeMarkup(std::string_view trimmedText)
{
    return trimmedText.starts_with('<');
}

/// What a file is that no format takes, by its beginning; nothing for an unknown one.
std::optional<Error> otherKind(std::span<const std::byte> bytes, std::string_view text)
{
    if (const ForeignFormat *const foreign = foreignFormatOf(bytes))
        return badInput({}, std::string(foreign->title), std::string(foreign->way));
    for (const Signature &foreign : kForeign) {
        if (text.starts_with(foreign.start))
            return badInput("byte 0", std::string(foreign.what), expectedFiles());
    }
    return std::nullopt;
}

} // namespace

Result<const ModelFormat *> sniff(std::span<const std::byte> bytes, std::string_view path)
{
    const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    if (text.empty())
        return badInput("byte 0", "an empty file", expectedFiles());
    const ModelFormat *likeliest = nullptr;
    Likeness best = Likeness::None;
    for (const ModelFormat *const format : formats()) {
        if (const Likeness likeness = format->sniff(bytes, path); likeness > best) {
            likeliest = format;
            best = likeness;
        }
    }
    if (best >= Likeness::Name)
        return likeliest;
    if (auto other = otherKind(bytes, text))
        return *std::move(other);
    if (likeliest != nullptr)
        return likeliest;
    constexpr std::size_t kBlanksSeen = 4096;
    const std::string_view content = trimmed(text.substr(0, kBlanksSeen));
    if (looksLikeMarkup(content))
        return badInput("byte 0", "a web page or XML (\"" + printable(content.substr(0, 40)) + "\")",
                        expectedFiles());
    if (content.empty())
        return badInput("byte 0", "a file with only whitespace", expectedFiles());
    return badInput("byte 0", "\"" + printable(content.substr(0, 16)) + "\"", expectedFiles());
}

} // namespace halftone::io
