#include "core/backends/reference/quantized.h"

#include "core/backends/reference/kernels.h"

#include <algorithm>
#include <cmath>

namespace halftone::backends::reference {
namespace {

using tensor::DType;

constexpr double kSums = 2147483647.0; ///< code of 32 bits that stands for the end of a range

/// Low and high of an input or output.
struct Ends
{
    double low = 0;
    double high = 0;

    double magnitude() const { return std::max(std::abs(low), std::abs(high)); }
};

template <class Real>
Ends endsAt(const Arrays<Real> &arrays, std::size_t low)
{
    return {static_cast<double>(arrays.in[low][0]), static_cast<double>(arrays.in[low + 1][0])};
}

template <class Real>
void putEnds(const Arrays<Real> &arrays, const Ends &ends)
{
    if (arrays.out.size() > 1 && arrays.out[1])
        arrays.out[1][0] = static_cast<Real>(ends.low);
    if (arrays.out.size() > 2 && arrays.out[2])
        arrays.out[2][0] = static_cast<Real>(ends.high);
}

/// Codes of 8 bits for the end of a range; `half`: of oneDNN's operators, half a code beyond the last one.
double codesOf(DType type, bool half)
{
    return (type == DType::U8 ? 255 : 127) + (half ? 0.5 : 0);
}

/// Codes for 1.
double scaleOf(DType type, const Ends &ends)
{
    if (type == DType::U8 && ends.low < 0 && ends.high > ends.low) // see countsFromLow()
        return 255 / (ends.high - ends.low);
    return ends.magnitude() > 0 ? codesOf(type, true) / ends.magnitude() : kSums;
}

/// Codes of uint8 whose range begins below zero count from there: see Requantize.
bool countsFromLow(DType type, const Ends &ends)
{
    return type == DType::U8 && ends.low < 0 && ends.high > ends.low;
}

/// What is to be added to a code so that it is proportional to its real.
double shiftOf(DType type, const Ends &ends)
{
    return countsFromLow(type, ends) ? ends.low * 255 / (ends.high - ends.low) : 0;
}

double saturated(DType type, double value)
{
    const double low = type == DType::U8 ? 0 : type == DType::I8 ? -128 : -kSums - 1;
    const double high = type == DType::U8 ? 255 : type == DType::I8 ? 127 : kSums;
    return std::clamp(std::nearbyint(value), low, high);
}

/// A product of codes: what `op` gives without its bias, then the bias in the sums' scale.
template <class Op, class Real>
Result<void> product(Op op, const Arrays<Real> &arrays, std::size_t channelAxis)
{
    const bool hasBias = op.hasBias;
    const std::size_t ends = hasBias ? 3 : 2;
    const DType dataType = arrays.operation.inputs[0].dtype;
    const Ends data = endsAt(arrays, ends);
    const Ends weight = endsAt(arrays, ends + 2);
    op.hasBias = false;
    kernels::Operation inner;
    inner.op = op;
    inner.inputs = {arrays.operation.inputs[0], arrays.operation.inputs[1]};
    inner.outputs = {arrays.operation.outputs[0]};
    std::vector<Real> shifted;
    const Real *codes = arrays.in[0];
    if (const double shift = shiftOf(dataType, data); shift != 0) {
        shifted.assign(codes, codes + arrays.inCount(0));
        for (Real &code : shifted)
            code += static_cast<Real>(shift);
        codes = shifted.data();
    }
    const Arrays<Real> reals{inner, arrays.workers, {codes, arrays.in[1]}, {arrays.out[0]}};
    if (arrays.out[0])
        HALFTONE_CHECK(compute(op, reals));
    for (std::size_t i = 0; !shifted.empty() && arrays.out[0] && i < arrays.outCount(0); ++i)
        arrays.out[0][i] = std::nearbyint(arrays.out[0][i]);
    if (hasBias && arrays.out[0]) {
        const Ends bias = endsAt(arrays, ends + 4);
        const double factor = scaleOf(dataType, data) * scaleOf(DType::I8, weight) * bias.magnitude()
            / codesOf(DType::I8, true);
        const auto dims = arrays.outDims(0);
        const std::size_t after = extent(dims, channelAxis + 1, dims.size());
        const auto channels = static_cast<std::size_t>(dims[channelAxis]);
        for (std::size_t i = 0; i < arrays.outCount(0); ++i)
            arrays.out[0][i] += static_cast<Real>(
                std::trunc(static_cast<double>(arrays.in[2][i / after % channels]) * factor));
    }
    const double step
        = shifted.empty() ? data.magnitude() / codesOf(dataType, false) : 1 / scaleOf(dataType, data);
    const double most = step * (weight.magnitude() / 127) * kSums;
    putEnds(arrays, {-most, most});
    return {};
}

/// What moves codes: `op` on them, the range passed through.
template <class Op, class Real>
Result<void> passThrough(const Op &op, const Arrays<Real> &arrays, std::size_t codes, std::size_t ends)
{
    kernels::Operation inner;
    inner.op = op;
    inner.inputs.assign(arrays.operation.inputs.begin(),
                        arrays.operation.inputs.begin() + static_cast<std::ptrdiff_t>(codes));
    inner.outputs = {arrays.operation.outputs[0]};
    const Arrays<Real> reals{inner,
                             arrays.workers,
                             {arrays.in.begin(), arrays.in.begin() + static_cast<std::ptrdiff_t>(codes)},
                             {arrays.out[0]}};
    if (arrays.out[0])
        HALFTONE_CHECK(compute(op, reals));
    putEnds(arrays, endsAt(arrays, ends));
    return {};
}

} // namespace

template <class Real>
Result<void> compute(const ops::Quantized<ops::Conv> &op, const Arrays<Real> &arrays)
{
    return product(op.op, arrays, 1);
}

template <class Real>
Result<void> compute(const ops::Quantized<ops::FullyConnected> &op, const Arrays<Real> &arrays)
{
    return product(op.op, arrays, arrays.outDims(0).size() - 1);
}

template <class Real>
Result<void> compute(const ops::Quantized<ops::Pool> &op, const Arrays<Real> &arrays)
{
    ops::Pool pool = op.op;
    // Beyond the padding, oneDNN in MXNet counts what is not there as zeros.
    pool.padsZeros = pool.kind == ops::Pool::Kind::Average && pool.countPadding;
    HALFTONE_CHECK(passThrough(pool, arrays, 1, 1));
    for (std::size_t i = 0; arrays.out[0] && i < arrays.outCount(0); ++i)
        arrays.out[0][i] = std::nearbyint(arrays.out[0][i]); // of averages; maxima are whole
    return {};
}

template <class Real>
Result<void> compute(const ops::Quantized<ops::Activation> &op, const Arrays<Real> &arrays)
{
    if (op.op.kind != ops::UnaryKind::Relu)
        return unsupported({}, "an int8 activation other than ReLU");
    const Ends ends = endsAt(arrays, 1);
    const DType from = arrays.operation.inputs[0].dtype;
    const DType to = arrays.operation.outputs[0].dtype; // MXNet says int8, whatever comes in
    const double shift = shiftOf(from, ends);
    const double factor = from == to ? 1 : scaleOf(to, ends) / scaleOf(from, ends);
    const double back = from == to ? shift : 0;
    for (std::size_t i = 0; arrays.out[0] && i < arrays.inCount(0); ++i) {
        const double code = std::max(static_cast<double>(arrays.in[0][i]) + shift, 0.0);
        arrays.out[0][i] = static_cast<Real>(saturated(to, code * factor - back));
    }
    putEnds(arrays, ends);
    return {};
}

template <class Real>
Result<void> compute(const ops::Quantized<ops::Flatten> &, const Arrays<Real> &arrays)
{
    if (arrays.out[0])
        std::copy_n(arrays.in[0], arrays.inCount(0), arrays.out[0]);
    putEnds(arrays, endsAt(arrays, 1));
    return {};
}

template <class Real>
Result<void> compute(const ops::Quantized<ops::BatchNormalization> &op, const Arrays<Real> &arrays)
{
    if (!op.range.low || !op.range.high)
        return unsupported({}, "an int8 BatchNorm without a calibrated range",
                           "min_calib_range and max_calib_range");
    const DType type = arrays.operation.inputs[0].dtype;
    const Ends data = endsAt(arrays, 5);
    const Ends result{*op.range.low, *op.range.high};
    const auto dims = arrays.inDims(0);
    const std::size_t after = extent(dims, 2, dims.size());
    const auto channels = static_cast<std::size_t>(dims[1]);
    const double codes = scaleOf(arrays.operation.outputs[0].dtype, result);
    // Data of uint8 become int8 first.
    const double toSigned = type == DType::U8 ? codesOf(DType::I8, true) / codesOf(DType::U8, true) : 1;
    for (std::size_t i = 0; arrays.out[0] && i < arrays.inCount(0); ++i) {
        const std::size_t c = i / after % channels;
        const auto parameter = [&](std::size_t k) { return static_cast<double>(arrays.in[k][c]); };
        const double factor = (op.op.fixGamma ? 1 : parameter(1)) / std::sqrt(parameter(4) + op.op.epsilon);
        double code = static_cast<double>(arrays.in[0][i]);
        if (type == DType::U8)
            code = saturated(DType::I8, code * toSigned);
        const double value = code / scaleOf(DType::I8, data) * factor + parameter(2) - parameter(3) * factor;
        arrays.out[0][i] = static_cast<Real>(saturated(arrays.operation.outputs[0].dtype, value * codes));
    }
    putEnds(arrays, result);
    return {};
}

template <class Real>
Result<void> compute(const ops::Quantized<ops::Concat> &op, const Arrays<Real> &arrays)
{
    const auto inputs = static_cast<std::size_t>(op.op.inputs);
    const DType type = arrays.operation.outputs[0].dtype;
    Ends all;
    for (std::size_t k = 0; k < inputs; ++k) {
        const Ends one = endsAt(arrays, inputs + 2 * k);
        all = {std::min(all.low, one.low), std::max(all.high, one.high)};
    }
    putEnds(arrays, all);
    if (!arrays.out[0])
        return {};
    const auto dims = arrays.outDims(0);
    const std::size_t axis = fromFront(op.op.axis, dims.size());
    const std::size_t after = extent(dims, axis + 1, dims.size());
    const std::size_t row = static_cast<std::size_t>(dims[axis]) * after;
    std::size_t at = 0;
    for (std::size_t k = 0; k < inputs; ++k) {
        const std::size_t part = static_cast<std::size_t>(arrays.inDims(k)[axis]) * after;
        const DType from = arrays.operation.inputs[k].dtype;
        const Ends one = endsAt(arrays, inputs + 2 * k);
        const bool isSame = from == type && one.magnitude() == all.magnitude();
        const double factor = scaleOf(type, all) / scaleOf(from, one);
        const double shift = shiftOf(from, one);
        const double back = shiftOf(type, all);
        for (std::size_t i = 0; i < arrays.inCount(k); ++i) {
            const double code = static_cast<double>(arrays.in[k][i]);
            arrays.out[0][i / part * row + at + i % part] = static_cast<Real>(
                isSame && shift == back ? code : saturated(type, (code + shift) * factor - back));
        }
        at += part;
    }
    return {};
}

namespace {

/// Two int8 tensors, or one of each: then the uint8 one becomes int8 in the result's scale first.
template <class Real>
void addCalibrated(const Arrays<Real> &arrays, const Ends &result)
{
    const DType a = arrays.operation.inputs[0].dtype;
    const DType b = arrays.operation.inputs[1].dtype;
    const DType type = arrays.operation.outputs[0].dtype;
    const double codes = scaleOf(type, result);
    const double factorA = codes / scaleOf(a, endsAt(arrays, 2));
    const double factorB = codes / scaleOf(b, endsAt(arrays, 4));
    const double shiftA = shiftOf(a, endsAt(arrays, 2));
    const double shiftB = shiftOf(b, endsAt(arrays, 4));
    const bool isMixed = a != b;
    for (std::size_t i = 0; i < arrays.outCount(0); ++i) {
        double left = (static_cast<double>(arrays.in[0][i]) + shiftA) * factorA;
        double right = (static_cast<double>(arrays.in[1][i]) + shiftB) * factorB;
        left = isMixed && a == DType::U8 ? saturated(DType::I8, left) : left;
        right = isMixed && b == DType::U8 ? saturated(DType::I8, right) : right;
        arrays.out[0][i] = static_cast<Real>(saturated(type, left + right));
    }
}

template <class Real>
void add(const ops::CalibratedRange &range, const Arrays<Real> &arrays)
{
    const bool isCalibrated = range.low && range.high;
    const Ends left = endsAt(arrays, 2);
    const Ends right = endsAt(arrays, 4);
    const double both = left.magnitude() + right.magnitude();
    const Ends result = isCalibrated ? Ends{*range.low, *range.high} : Ends{-both, both};
    putEnds(arrays, result);
    if (!arrays.out[0])
        return;
    if (isCalibrated)
        return addCalibrated(arrays, result);
    if (both == 0) {
        std::fill_n(arrays.out[0], arrays.outCount(0), Real{0});
        return;
    }
    const DType a = arrays.operation.inputs[0].dtype;
    const DType b = arrays.operation.inputs[1].dtype;
    const double factorA = kSums / both / scaleOf(a, left);
    const double factorB = kSums / both / scaleOf(b, right);
    for (std::size_t i = 0; i < arrays.outCount(0); ++i)
        arrays.out[0][i] = static_cast<Real>(
            saturated(DType::I32,
                      (static_cast<double>(arrays.in[0][i]) + shiftOf(a, left)) * factorA
                          + (static_cast<double>(arrays.in[1][i]) + shiftOf(b, right)) * factorB));
}

template <class Real>
void multiply(const ops::Quantized<ops::Binary> &op, const Arrays<Real> &arrays)
{
    const DType a = arrays.operation.inputs[0].dtype;
    const DType b = arrays.operation.inputs[1].dtype;
    const Ends left = endsAt(arrays, 2);
    const Ends right = endsAt(arrays, 4);
    const DType type = arrays.operation.outputs[0].dtype;
    const bool isCalibrated = op.range.low && op.range.high;
    const double most
        = left.magnitude() / codesOf(a, false) * (right.magnitude() / codesOf(b, false)) * kSums;
    const Ends result = isCalibrated ? Ends{*op.range.low, *op.range.high} : Ends{-most, most};
    if (!op.realOutput)
        putEnds(arrays, result);
    if (!arrays.out[0])
        return;
    double factor = 1 / (scaleOf(a, left) * scaleOf(b, right));
    factor = op.realOutput ? factor : isCalibrated ? factor * scaleOf(type, result) : 1;
    for (std::size_t i = 0; i < arrays.outCount(0); ++i) {
        const double value
            = static_cast<double>(arrays.in[0][i]) * static_cast<double>(arrays.in[1][i]) * factor;
        // MXNet cuts a product's code where others are rounded.
        arrays.out[0][i] = static_cast<Real>(op.realOutput ? value : saturated(type, std::trunc(value)));
    }
}

} // namespace

template <class Real>
Result<void> compute(const ops::Quantized<ops::Binary> &op, const Arrays<Real> &arrays)
{
    if (op.op.kind == ops::BinaryKind::Add)
        add(op.range, arrays);
    else if (op.op.kind == ops::BinaryKind::Mul)
        multiply(op, arrays);
    else
        return unsupported({}, "an int8 operator of two tensors other than sum and product");
    return {};
}

template <class Real>
Result<void> compute(const ops::Quantized<ops::Embedding> &op, const Arrays<Real> &arrays)
{
    const auto rows = static_cast<std::int64_t>(op.op.rows);
    const auto width = static_cast<std::size_t>(op.op.width);
    putEnds(arrays, endsAt(arrays, 2));
    for (std::size_t i = 0; arrays.out[0] && i < arrays.inCount(0); ++i) {
        // As MXNet's Embedding: what lies outside is the nearest row.
        const auto index = std::clamp<std::int64_t>(static_cast<std::int64_t>(arrays.in[0][i]), 0, rows - 1);
        std::copy_n(arrays.in[1] + static_cast<std::size_t>(index) * width, width, arrays.out[0] + i * width);
    }
    return {};
}

HALFTONE_BOTH(Quantized<ops::Conv>)
HALFTONE_BOTH(Quantized<ops::FullyConnected>)
HALFTONE_BOTH(Quantized<ops::Pool>)
HALFTONE_BOTH(Quantized<ops::Activation>)
HALFTONE_BOTH(Quantized<ops::BatchNormalization>)
HALFTONE_BOTH(Quantized<ops::Concat>)
HALFTONE_BOTH(Quantized<ops::Flatten>)
HALFTONE_BOTH(Quantized<ops::Binary>)
HALFTONE_BOTH(Quantized<ops::Embedding>)

} // namespace halftone::backends::reference
