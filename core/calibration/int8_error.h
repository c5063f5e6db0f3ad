#pragma once

#include <optional>
#include <span>

namespace halftone::calibration {

/// The range of int8 codes that a threshold t stands for: symmetric (-t..t in codes -127..127) or one-sided (0..t in
/// codes 0..255), in the neutral scheme of 127 and 255 levels (core/quantize/RULES.md, Q-neutral).
enum class CodeRange
{
    Symmetric,
    OneSided
};

/// Signal to quantization noise in decibels when the values are rounded to codes, clipped values included. Infinite
/// without noise; nothing without finite values other than zero, or for a threshold of 0.
class Int8Error
{
public:
    Int8Error(double threshold, CodeRange range)
        : m_threshold(threshold)
        , m_range(range)
    {
    }

    void add(std::span<const float> values); ///< NaN and infinities are left out
    std::optional<double> sqnrDb() const;
    double noise() const { return m_noise; } ///< sum of squares

private:
    double m_threshold;
    CodeRange m_range;
    double m_signal = 0;
    double m_noise = 0;
};

} // namespace halftone::calibration
