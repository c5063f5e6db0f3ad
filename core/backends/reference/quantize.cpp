#include "core/backends/reference/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone::backends::reference {
namespace {

using tensor::DType;

struct Range
{
    double low = 0;
    double high = 0;

    double magnitude() const { return std::max(std::abs(low), std::abs(high)); }
};

/// Codes of an 8-bit type that stand for a range's magnitude. Those of data (quantize_v2, dequantize) lie half a code
/// beyond the last one, those of parameters and of requantized sums on it.
double codesOf(DType type, bool ofData)
{
    return (type == DType::U8 ? 255 : 127) + (ofData ? 0.5 : 0);
}

template <class Real>
Range rangeOf(const Real *values, std::size_t count)
{
    if (count == 0)
        return {};
    const auto [low, high] = std::minmax_element(values, values + count);
    return {static_cast<double>(*low), static_cast<double>(*high)};
}

/// Rounded to nearest even, saturated to what the 8-bit type holds.
template <class Real>
void quantizeTo(DType type, double scale, const Real *values, std::size_t count, Real *codes)
{
    const double low = type == DType::U8 ? 0 : -128;
    const double high = type == DType::U8 ? 255 : 127;
    for (std::size_t i = 0; i < count; ++i) {
        const double value = static_cast<double>(values[i]);
        // Nothing times an infinite scale is nothing; not a number becomes the lowest code.
        const double scaled = value == 0 ? 0 : value * scale;
        codes[i] = static_cast<Real>(scaled >= low ? std::nearbyint(std::min(scaled, high)) : low);
    }
}

/// The range that a result of 8 bits is said to have: symmetric where it is signed.
template <class Real>
void putRange(DType type, const Range &range, const Arrays<Real> &arrays)
{
    const bool isSigned = type == DType::I8;
    if (arrays.out[1])
        arrays.out[1][0] = static_cast<Real>(isSigned ? -range.magnitude() : range.low);
    if (arrays.out[2])
        arrays.out[2][0] = static_cast<Real>(isSigned ? range.magnitude() : range.high);
}

/// Sums of 32 bits that become uint8 though some are negative: the codes count from the low end, as MXNet's first uint8
/// scheme had it. Its oneDNN kernels lose what is negative, and with it the result.
bool countsFromLow(DType type, const Range &range)
{
    return type == DType::U8 && range.low < 0 && range.high > range.low;
}

template <class Real>
Range givenRange(const Arrays<Real> &arrays)
{
    return {static_cast<double>(arrays.in[1][0]), static_cast<double>(arrays.in[2][0])};
}

bool isCode(DType type)
{
    return type == DType::I8 || type == DType::U8;
}

} // namespace

template <class Real>
Result<void> compute(const ops::Quantize &op, const Arrays<Real> &arrays)
{
    const DType type = arrays.operation.outputs[0].dtype;
    const std::size_t count = arrays.inCount(0);
    const bool calibrated = op.range.low && op.range.high;
    if (!isCode(type))
        return unsupported("output 0", std::string(tensor::nameOf(type)), "int8 or uint8");
    if (!op.rangeIsInput && isCode(arrays.operation.inputs[0].dtype)) {
        if (!calibrated)
            return unsupported("input 0", "data of 8 bit without a calibrated range", "a range");
        if (arrays.out[0])
            std::copy_n(arrays.in[0], count, arrays.out[0]);
        putRange(type, {*op.range.low, *op.range.high}, arrays);
        return {};
    }
    const Range range = op.rangeIsInput ? givenRange(arrays)
        : calibrated                    ? Range{*op.range.low, *op.range.high}
                                        : rangeOf(arrays.in[0], count);
    if (arrays.out[0])
        quantizeTo(type, codesOf(type, !op.rangeIsInput) / range.magnitude(), arrays.in[0], count,
                   arrays.out[0]);
    // Codes of uint8 hold nothing negative, and their range says so.
    putRange(type, type == DType::U8 && range.low < 0 ? Range{0, range.magnitude()} : range, arrays);
    return {};
}

template <class Real>
Result<void> compute(const ops::Requantize &op, const Arrays<Real> &arrays)
{
    const DType type = arrays.operation.outputs[0].dtype;
    if (!isCode(type))
        return unsupported("output 0", std::string(tensor::nameOf(type)), "int8 or uint8");
    constexpr double kCodes = std::numeric_limits<std::int32_t>::max();
    const std::size_t count = arrays.inCount(0);
    const double step = givenRange(arrays).magnitude() / kCodes;
    Range range;
    if (op.range.low && op.range.high) {
        range = {*op.range.low, *op.range.high};
    } else {
        const Range sums = rangeOf(arrays.in[0], count);
        range = {sums.low * step, sums.high * step};
    }
    putRange(type, range, arrays);
    if (arrays.out[0] && countsFromLow(type, range)) {
        const double scale = 255 / (range.high - range.low);
        for (std::size_t i = 0; i < count; ++i) {
            const double code = (static_cast<double>(arrays.in[0][i]) * step - range.low) * scale;
            arrays.out[0][i] = static_cast<Real>(std::clamp(std::nearbyint(code), 0.0, 255.0));
        }
    } else if (arrays.out[0]) {
        quantizeTo(type, step * codesOf(type, false) / range.magnitude(), arrays.in[0], count, arrays.out[0]);
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::Dequantize &, const Arrays<Real> &arrays)
{
    const DType type = arrays.operation.inputs[0].dtype;
    const double codes = type == DType::I32 ? std::numeric_limits<std::int32_t>::max() : codesOf(type, true);
    const Range range = givenRange(arrays);
    const bool isShifted = countsFromLow(type, range);
    const double step = isShifted ? (range.high - range.low) / 255 : range.magnitude() / codes;
    const double first = isShifted ? range.low : 0;
    for (std::size_t i = 0; i < arrays.inCount(0); ++i)
        arrays.out[0][i] = static_cast<Real>(static_cast<double>(arrays.in[0][i]) * step + first);
    return {};
}

HALFTONE_BOTH(Quantize)
HALFTONE_BOTH(Requantize)
HALFTONE_BOTH(Dequantize)

} // namespace halftone::backends::reference
