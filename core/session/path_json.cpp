#include "core/session/path_json.h"

#include "core/base/hex.h"
#include "core/base/text.h"

#include <charconv>
#include <optional>
#include <string_view>

namespace halftone::session {
namespace {

/// Nothing for what are no pairs of hexadecimal digits.
std::optional<std::string> bytesOfDigits(std::string_view digits)
{
    std::string bytes;
    for (; digits.size() >= 2; digits.remove_prefix(2)) {
        unsigned value = 0;
        if (std::from_chars(digits.data(), digits.data() + 2, value, 16).ptr != digits.data() + 2)
            return std::nullopt;
        bytes += static_cast<char>(value);
    }
    return digits.empty() ? std::optional(bytes) : std::nullopt;
}

} // namespace

void putPath(OrderedJson &object, const std::string &key, const std::string &path)
{
    object[key] = path;
    if (isUtf8(path))
        return;
    std::string digits;
    for (const char byte : path)
        digits += hexDigits(static_cast<unsigned char>(byte), 2);
    object[key + kPathBytes] = digits;
}

Result<std::string> readPath(const OrderedJson &object, const std::string &key)
{
    const auto textAt = [&object](const std::string &name) -> Result<std::string> {
        const auto found = object.find(name);
        if (found == object.end() || found->is_null())
            return std::string();
        if (found->is_string())
            return found->get<std::string>();
        return badInput(name, found->type_name(), "a text");
    };
    HALFTONE_TRY(std::string readable, textAt(key));
    HALFTONE_TRY(const std::string digits, textAt(key + kPathBytes));
    if (digits.empty())
        return readable;
    if (auto bytes = bytesOfDigits(digits))
        return *std::move(bytes);
    return badInput(key + kPathBytes, printable(digits, 40), "pairs of hexadecimal digits");
}

} // namespace halftone::session
