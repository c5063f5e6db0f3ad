#include "core/base/result.h"

#include "core/base/text.h"

namespace halftone {

namespace {

/// "batch 1"
std::string withName(std::string_view name, const std::string &value)
{
    return std::string(name) + (name.empty() || value.empty() ? "" : " ") + printable(value);
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
    std::string wish = printable(expected);
    if (remedy != Field::None)
        wish += (wish.empty() ? "" : ", or ") + withName(names(remedy), remedyValue);
    if (!wish.empty())
        text += ", expected " + wish;
    return text;
}

} // namespace halftone
