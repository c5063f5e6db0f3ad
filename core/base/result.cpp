#include "core/base/result.h"

#include "core/base/text.h"

namespace halftone {

std::string Error::message() const
{
    std::string text;
    for (const std::string *part : {&file, &where}) {
        if (!part->empty())
            text += printable(*part) + ": ";
    }
    text += printable(found);
    if (!expected.empty())
        text += ", expected " + printable(expected);
    return text;
}

} // namespace halftone
