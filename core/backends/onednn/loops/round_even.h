#pragma once

#include <cstdint>

namespace halftone::backends::onednn {

/// To the nearest whole number, ties to even: behind the sum with a number whose last place is 1 there is no room for a fraction. Two
/// additions that every vector unit has. Needs: |value| below 2^22
[[gnu::always_inline]] inline float roundEven(float value)
{
    constexpr float kWholeFrom = 12582912; // 1.5 * 2^23
    return value + kWholeFrom - kWholeFrom;
}

} // namespace halftone::backends::onednn
