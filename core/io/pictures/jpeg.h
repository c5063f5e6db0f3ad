#pragma once

#include "core/io/pictures/picture.h"

#include <cstddef>
#include <span>

namespace halftone::io {

/// By the first bytes.
bool isJpeg(std::span<const std::byte> bytes);

/// Decodes with libjpeg's slow and exact transform, as the tools do with which networks are trained; CMYK is brought to RGB.
/// fails: BadInput for what is damaged or cut, for more pixels than `mostPixels` and for a progressive picture of more
/// scans than any encoder writes.
Result<Picture> readJpeg(std::span<const std::byte> bytes, std::int64_t mostPixels);

} // namespace halftone::io
