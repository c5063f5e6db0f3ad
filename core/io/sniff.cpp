#include "core/io/sniff.h"

#include "core/base/text.h"
#include "core/io/foreign_formats.h"
#include "core/io/mxnet/params_format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <string>

namespace halftone::io {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kExpected = "an MXNet symbol (JSON) or parameter list, or an ONNX model";

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

/// ONNX is a protobuf message that starts with its IR version (field 1, a small number), then a text (field 2
/// or 3) or another field.
bool looksLikeOnnx(std::string_view text)
{
    constexpr char kIrVersion = 0x08;
    constexpr std::string_view kNextFields = "\x12\x1A\x22\x2A\x32\x3A\x42";
    return text.size() > 3 && text[0] == kIrVersion && text[1] > 0 && text[1] < 32
        && kNextFields.find(text[2]) != std::string_view::npos;
}

bool looksLikeMarkup(std::string_view trimmedText)
{
    return trimmedText.starts_with('<');
}

bool looksLikeParams(std::string_view text)
{
    std::uint64_t magic = 0;
    if (text.size() < sizeof(magic))
        return false;
    std::memcpy(&magic, text.data(), sizeof(magic));
    return magic == params::kListMagic;
}

} // namespace

Result<Format> sniff(std::span<const std::byte> bytes)
{
    const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    if (text.empty())
        return badInput("byte 0", "an empty file", std::string(kExpected));
    if (looksLikeParams(text))
        return Format::Params;
    if (const ForeignFormat *const foreign = foreignFormatOf(bytes))
        return badInput({}, std::string(foreign->title), std::string(foreign->way));
    for (const Signature &foreign : kForeign) {
        if (text.starts_with(foreign.start))
            return badInput("byte 0", std::string(foreign.what), std::string(kExpected));
    }
    if (looksLikeOnnx(text))
        return Format::Onnx;
    constexpr std::size_t kBlanksSeen = 4096;
    const std::string_view content = trimmed(text.substr(0, kBlanksSeen));
    if (looksLikeMarkup(content))
        return badInput("byte 0", "a web page or XML (\"" + printable(content.substr(0, 40)) + "\")",
                        std::string(kExpected));
    if (content.starts_with('{') || content.starts_with('['))
        return Format::SymbolJson;
    if (content.empty())
        return badInput("byte 0", "a file with only whitespace", std::string(kExpected));
    return badInput("byte 0", "\"" + printable(content.substr(0, 16)) + "\"", std::string(kExpected));
}

bool mayBeOnnx(std::span<const std::byte> bytes)
{
    constexpr std::string_view kFirstFields = "\x08\x12\x1A\x22\x28\x32\x3A\x42\x72";
    return !bytes.empty() && kFirstFields.find(static_cast<char>(bytes.front())) != std::string_view::npos;
}

} // namespace halftone::io
