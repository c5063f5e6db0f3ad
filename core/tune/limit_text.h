#pragma once

#include "core/tune/search.h"

#include <optional>
#include <string_view>

namespace halftone::tune {

/// "sqnr=30" (dB), "top1=-0.5" (percentage points); nothing for another text.
std::optional<Limit> limitNamed(std::string_view text);

} // namespace halftone::tune
