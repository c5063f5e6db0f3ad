#include "core/dialect/mxnet/attribute_text.h"

#include "core/base/text.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace halftone::dialect::mxnet {
namespace {

Error malformed(std::string_view text, std::string expected)
{
    std::string found(
        1, '"'); // in steps: GCC 12 takes the insertion of "…" + text for a copy of half the memory
    found += printable(text, 80);
    found += '"';
    return badInput({}, std::move(found), std::move(expected));
}

bool equalsIgnoringCase(std::string_view text, std::string_view lower)
{
    return std::ranges::equal(text, lower, {},
                              [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
}

/// Reads "(a, b)", "[a, b]" or a single bare element. A comma may follow the last element of a bracketed
/// list, as Python writes it.
template <class T, class ReadElement>
Result<std::vector<T>> readSequence(std::string_view text, const char *expected,
                                    const ReadElement &readElement)
{
    std::string_view body = trimmed(text);
    std::vector<T> values;
    const bool round = body.starts_with('(');
    if (round || body.starts_with('[')) {
        if (body.size() < 2 || body.back() != (round ? ')' : ']'))
            return malformed(text, expected);
        body = trimmed(body.substr(1, body.size() - 2));
        if (body.empty())
            return values;
        if (body.ends_with(','))
            body.remove_suffix(1);
    } else if (body.find(',') != std::string_view::npos) {
        return malformed(text, expected);
    }
    for (bool more = true; more;) {
        const std::size_t comma = body.find(',');
        auto element = readElement(body.substr(0, comma));
        if (!element.ok())
            return malformed(text, expected);
        values.push_back(std::move(element).value());
        more = comma != std::string_view::npos;
        if (more)
            body.remove_prefix(comma + 1);
    }
    return values;
}

} // namespace

bool isNone(std::string_view text)
{
    return trimmed(text) == "None";
}

Result<std::int64_t> readInteger(std::string_view text)
{
    std::string_view digits = trimmed(text);
    if (digits.ends_with('L'))
        digits.remove_suffix(1);
    if (const auto value = parseInteger(digits))
        return *value;
    return malformed(text, "an integer");
}

Result<double> readReal(std::string_view text)
{
    if (const auto value = parseReal(trimmed(text)))
        return *value;
    return malformed(text, "a number");
}

Result<bool> readBoolean(std::string_view text)
{
    const std::string_view word = trimmed(text);
    if (equalsIgnoringCase(word, "true") || word == "1")
        return true;
    if (equalsIgnoringCase(word, "false") || word == "0")
        return false;
    return malformed(text, "True or False");
}

Result<std::vector<std::int64_t>> readTuple(std::string_view text)
{
    return readSequence<std::int64_t>(text, "integers such as (3, 3)", readInteger);
}

Result<std::vector<OptionalInteger>> readOptionalTuple(std::string_view text)
{
    const auto readElement = [](std::string_view element) -> Result<OptionalInteger> {
        if (isNone(element))
            return OptionalInteger();
        HALFTONE_TRY(const std::int64_t value, readInteger(element));
        return OptionalInteger(value);
    };
    return readSequence<OptionalInteger>(text, "integers or None such as (0, None)", readElement);
}

Result<std::vector<double>> readRealTuple(std::string_view text)
{
    return readSequence<double>(text, "numbers such as (0.1, 0.2)", readReal);
}

Result<tensor::DType> readDType(std::string_view text)
{
    const std::string_view name = trimmed(text);
    if (const auto type = tensor::dtypeNamed(name); type && tensor::nameOf(*type) == name)
        return *type;
    return malformed(text, "a type name such as float32");
}

} // namespace halftone::dialect::mxnet
