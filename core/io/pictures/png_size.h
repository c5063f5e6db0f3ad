#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace halftone::io {

/// Whether the packed rows of a PNG unpack to what its header says, and not to thousands of times as much, for which a
/// decoder would ask for memory. Unpacks them in pieces, where there are so many that they could. What is no PNG, or is
/// damaged otherwise, is left to the decoder.
/// fails: BadInput
Result<void> checkPngSize(std::span<const std::byte> bytes);

/// Whether the checksums of a PNG hold, of all parts that say something of its pixels: the decoder looks at none. What is no PNG, or
/// is cut, is left to the decoder.
/// fails: BadInput for a damaged part, naming it
Result<void> checkPngSums(std::span<const std::byte> bytes);

} // namespace halftone::io
