#include "core/dialect/onnx/attribute_list.h"

#include "core/base/text.h"

#include <array>
#include <charconv>

namespace halftone::dialect::onnx {
namespace {

template <class T, class ToText>
std::string listOf(std::span<const T> values, const ToText &toText)
{
    std::string text = "[";
    for (const T &value : values) {
        if (text.size() > 1)
            text += ',';
        text += toText(value);
    }
    return text + ']';
}

std::string escaped(const std::string &text)
{
    std::string out;
    for (const char c : text) {
        if (c == ',' || c == '\\' || c == '[' || c == ']')
            out += '\\';
        out += c;
    }
    return out;
}

template <class T, class Parse>
std::optional<std::vector<T>> numbersIn(std::string_view text, const Parse &parse)
{
    const auto parts = textsIn(text);
    if (!parts)
        return std::nullopt;
    std::vector<T> values;
    for (const std::string &part : *parts) {
        const auto value = parse(trimmed(part));
        if (!value)
            return std::nullopt;
        values.push_back(*value);
    }
    return values;
}

} // namespace

std::string listText(std::span<const std::int64_t> values)
{
    return listOf(values, [](std::int64_t value) { return std::to_string(value); });
}

std::string realText(float value)
{
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return {buffer.data(), end.ptr};
}

std::string listText(std::span<const float> values)
{
    return listOf(values, realText);
}

std::string listText(std::span<const std::string> values)
{
    return listOf(values, escaped);
}

std::optional<std::vector<std::string>> textsIn(std::string_view text)
{
    text = trimmed(text);
    if (text.size() < 2 || text.front() != '[' || text.back() != ']')
        return std::nullopt;
    text = text.substr(1, text.size() - 2);
    std::vector<std::string> parts;
    if (text.empty())
        return parts;
    parts.emplace_back();
    for (std::size_t k = 0; k < text.size(); ++k) {
        if (text[k] == ',')
            parts.emplace_back();
        else if (text[k] == '\\' && k + 1 < text.size())
            parts.back() += text[++k];
        else
            parts.back() += text[k];
    }
    return parts;
}

std::optional<std::vector<std::int64_t>> integersIn(std::string_view text)
{
    return numbersIn<std::int64_t>(text, parseInteger);
}

std::optional<std::vector<double>> realsIn(std::string_view text)
{
    return numbersIn<double>(text, parseReal);
}

} // namespace halftone::dialect::onnx
