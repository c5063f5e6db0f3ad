#pragma once

#include "core/io/pictures/label_image.h"
#include "core/io/pictures/picture.h"

#include <cstddef>
#include <span>

namespace halftone::io {

/// By the first bytes.
bool isPng(std::span<const std::byte> bytes);

/// By the header: a palette, or grey with up to 8 bits a pixel.
bool isPngOfClasses(std::span<const std::byte> bytes);

/// Decodes with libpng: 8 bits a channel, of 16 the high ones; no gamma is applied, as the tools do with which networks are trained.
/// fails: BadInput for what is damaged or cut, and for more pixels than `mostPixels`
Result<Picture> readPng(std::span<const std::byte> bytes, std::int64_t mostPixels);

/// The same of a picture of classes: what each pixel has stored, as readLabelImage() says.
/// fails: BadInput likewise, and for any other kind of picture
Result<LabelImage> readPngClasses(std::span<const std::byte> bytes, std::int64_t mostPixels);

} // namespace halftone::io
