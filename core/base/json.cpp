#include "core/base/json.h"

namespace halftone {

SortedJson parseSorted(std::string_view text)
{
    return SortedJson::parse(text, nullptr, false);
}

OrderedJson parseOrdered(std::string_view text)
{
    return OrderedJson::parse(text, nullptr, false);
}

std::string jsonText(const SortedJson &json, int indent, char fill)
{
    return json.dump(indent, fill, false, SortedJson::error_handler_t::replace);
}

std::string jsonText(const OrderedJson &json, int indent, char fill)
{
    return json.dump(indent, fill, false, OrderedJson::error_handler_t::replace);
}

} // namespace halftone
