#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace halftone::io {

/// A class for every pixel, rows from the top.
struct LabelImage
{
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> classes;
};

/// Reads a PNG whose pixels are classes: grey values of up to 8 bits as they are stored, or the places of a palette's colours.
/// fails: BadInput for any other picture, and for one that is damaged or cut or has more than kMostPixels.
Result<LabelImage> readLabelImage(const std::string &path);

/// Whether readLabelImage() would take the kind of picture that the file's header speaks of.
bool isLabelImage(const std::string &path);

} // namespace halftone::io
