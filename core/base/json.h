#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

/// JSON text and values, by nlohmann's library: the only place that names its header, which takes a compiler more than a second for
/// each source that sees it. Sources that read or write JSON include this; headers of the public interface never do.
namespace halftone {

using SortedJson = nlohmann::json; ///< objects find their keys fast, and give them sorted
using OrderedJson = nlohmann::ordered_json; ///< objects keep their keys as they came

/// What a text holds; is_discarded() when it is not JSON. Compiled once, as jsonText() is: the library's own functions take a compiler a second
/// or two in every source that calls them.
SortedJson parseSorted(std::string_view text);
OrderedJson parseOrdered(std::string_view text);

/// On one line, or indented by `indent` times `fill`. What is not UTF-8, as names from files may be, becomes U+FFFD.
std::string jsonText(const SortedJson &json, int indent = -1, char fill = ' ');
std::string jsonText(const OrderedJson &json, int indent = -1, char fill = ' ');

} // namespace halftone
