#pragma once

#include <nlohmann/json.hpp>

/// JSON text and values, by nlohmann's library: the only place that names its header, which takes a compiler more than a second for
/// each source that sees it. Sources that read or write JSON include this; headers of the public interface never do.
namespace halftone {

using SortedJson = nlohmann::json; ///< objects find their keys fast, and give them sorted
using OrderedJson = nlohmann::ordered_json; ///< objects keep their keys as they came

} // namespace halftone
