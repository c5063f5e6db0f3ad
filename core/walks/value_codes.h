#pragma once

#include "core/quantize/quantize.h"

namespace halftone::walks {

/// Quantizes single values to the int8 codes of a range and back (core/quantize/RULES.md, Q-quantize, Q-pair-data).
class ValueCodes
{
public:
    /// inPairs  codes have a zero point, as in QDQ pairs
    ValueCodes(const quantize::QuantizedRange &range, quantize::QuantizedCodes codes, bool inPairs);

    double decoded(float value) const;

private:
    float m_scale = 0;
    float m_lowest = 0;
    float m_highest = 0;
};

} // namespace halftone::walks
