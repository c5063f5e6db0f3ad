#pragma once

#include <string>
#include <string_view>

namespace halftone {

/// `text` safe in the text and the attributes of HTML and XML: & < > " ' as entities, and control characters, which XML 1.0
/// cannot hold, as U+FFFD (tabs and line ends stay).
std::string markupText(std::string_view text);

} // namespace halftone
