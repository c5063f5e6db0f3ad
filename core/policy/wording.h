#pragma once

#include <string>
#include <string_view>

/// How errors, warnings and reports of this room name things.
namespace halftone::policy {

/// `"text"`
inline std::string inQuotes(std::string_view text)
{
    return '"' + std::string(text) + '"';
}

/// `fp32_ops: "softmax"`
inline std::string entryText(std::string_view key, std::string_view name)
{
    return std::string(key) + ": " + inQuotes(name);
}

/// `fp32_ops[3]`
inline std::string indexed(std::string_view key, std::size_t index)
{
    return std::string(key) + '[' + std::to_string(index) + ']';
}

} // namespace halftone::policy
