#include "core/base/result.h"

#include "core/base/text.h"

namespace halftone {

namespace {

/// "batch 1"
std::string withName(std::string_view name, const std::string &value)
{
    return std::string(name) + (name.empty() || value.empty() ? "" : " ") + printable(value);
}

/// "; remove the folder": what to do, where that says more than what should be there
bool isAdvice(std::string_view expected)
{
    return expected.starts_with("; ");
}

} // namespace

std::string Error::message(FieldNames names) const
{
    std::string text;
    for (const std::string &part : {printable(file), withName(names(field), where)}) {
        if (!part.empty())
            text += part + ": ";
    }
    text += printable(found);
    if (isAdvice(expected))
        text += printable(expected);
    else if (!expected.empty())
        text += ", expected " + printable(expected);
    if (remedy != Field::None)
        text += std::string(expected.empty() ? "; set " : ", or set ") + withName(names(remedy), remedyValue);
    return text;
}

} // namespace halftone
