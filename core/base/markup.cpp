#include "core/base/markup.h"

#include "core/base/text.h"

namespace halftone {

std::string markupText(std::string_view text)
{
    std::string result;
    for (const char sign : withoutMarks(text)) {
        switch (sign) {
        case '&':
            result += "&amp;";
            break;
        case '<':
            result += "&lt;";
            break;
        case '>':
            result += "&gt;";
            break;
        case '"':
            result += "&quot;";
            break;
        case '\'':
            result += "&#39;";
            break;
        default: {
            const auto byte = static_cast<unsigned char>(sign);
            const bool isControl = (byte < 0x20 && sign != '\t' && sign != '\n') || byte == 0x7F;
            if (isControl)
                result += "\xEF\xBF\xBD";
            else
                result += sign;
        }
        }
    }
    return result;
}

} // namespace halftone
