#pragma once

#include <cmath>
#include <cstdint>

namespace halftone::backends::reference {

/// The value between the pixels of an image (height, width) at row `y` and column `x`; pixels outside are 0. Whatever is
/// no finite place gives 0.
template <class Real>
Real bilinear(const Real *image, std::int64_t height, std::int64_t width, Real y, Real x)
{
    if (!(y > -1 && x > -1 && y < static_cast<Real>(height) && x < static_cast<Real>(width)))
        return 0;
    const Real top = std::floor(y);
    const Real left = std::floor(x);
    const auto row = static_cast<std::int64_t>(top);
    const auto column = static_cast<std::int64_t>(left);
    const auto pixel = [&](std::int64_t r, std::int64_t c) {
        return r >= 0 && c >= 0 && r < height && c < width ? image[r * width + c] : Real(0);
    };
    const Real down = y - top;
    const Real right = x - left;
    return (1 - down) * ((1 - right) * pixel(row, column) + right * pixel(row, column + 1))
        + down * ((1 - right) * pixel(row + 1, column) + right * pixel(row + 1, column + 1));
}

} // namespace halftone::backends::reference
