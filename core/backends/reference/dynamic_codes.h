#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace halftone::backends::reference {

/// What codes of uint8 stand for: (code - zero) · scale.
struct DynamicScale
{
    float scale = 1;
    float zero = 0;

    /// The code of a value; 0 for what is no number.
    float codeOf(float value) const
    {
        const float code = std::nearbyint(value / scale) + zero;
        return std::isnan(code) ? 0.0F : std::clamp(code, 0.0F, 255.0F);
    }
};

/// That of values whose range, 0 in it, goes from `low` to `high`, in float32. Source: ONNX operator DynamicQuantizeLinear.
inline DynamicScale dynamicScale(float low, float high)
{
    const float scale = (low == high ? 1.0F : high - low) / 255.0F;
    return {scale, std::nearbyint(std::min(std::max(0.0F, -low / scale), 255.0F))}; // 0 for what is no number
}

} // namespace halftone::backends::reference
