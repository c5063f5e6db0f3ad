#include "core/walks/value_codes.h"

#include "core/quantize/pair_codes.h"

#include <algorithm>
#include <cmath>

namespace halftone::walks {

ValueCodes::ValueCodes(const quantize::QuantizedRange &range, quantize::QuantizedCodes codes, bool inPairs)
{
    if (inPairs) {
        const quantize::PairCodes pair = quantize::dataCodes(range, codes);
        const bool isSigned = pair.zeroPoint.dtype() == tensor::DType::I8;
        const float zero = isSigned ? 0 : static_cast<float>(pair.zeroPoint.values<std::uint8_t>()[0]);
        m_scale = 1 / pair.scales[0];
        m_lowest = (isSigned ? -128.0F : 0.0F) - zero;
        m_highest = (isSigned ? 127.0F : 255.0F) - zero;
        return;
    }
    const bool isOneSided = codes != quantize::QuantizedCodes::Int8 && range.low >= 0;
    const float largest = std::max(std::abs(range.low), std::abs(range.high));
    m_scale = largest > 0 ? (isOneSided ? 255.5F : 127.5F) / largest : 0;
    m_lowest = isOneSided ? 0.0F : -128.0F;
    m_highest = isOneSided ? 255.0F : 127.0F;
}

double ValueCodes::decoded(float value) const
{
    return m_scale > 0
        ? double{std::clamp(std::nearbyint(value * m_scale), m_lowest, m_highest)} / double{m_scale}
        : double{value};
}

} // namespace halftone::walks
