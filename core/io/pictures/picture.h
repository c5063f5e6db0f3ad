#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace halftone::io {

/// A decoded picture: rows from the top, three bytes a pixel in the order red, green, blue.
struct Picture
{
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> rgb;
};

inline constexpr std::int64_t kMostPixels = std::int64_t{1} << 26; ///< of one picture

/// Reads a JPEG, PNG, BMP, GIF (its first frame), TGA, PSD or PNM; grey ones become three equal colours, transparency is dropped.
/// fails: BadInput for a file that is no such picture or is cut, and for more than kMostPixels.
Result<Picture> readPicture(const std::string &path);

/// The pictures of a folder by name (jpg, jpeg, png, bmp), sorted. fails: BadInput when there is no such folder, or none in it.
Result<std::vector<std::string>> picturesIn(const std::string &folder);

} // namespace halftone::io
