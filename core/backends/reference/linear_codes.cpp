#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/dynamic_codes.h"
#include "core/backends/reference/kernels.h"
#include "core/kernels/buffer.h"
#include "core/ops/shape_slots.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <cmath>
#include <limits>

/// Codes by scales and zero points.
namespace halftone::backends::reference {
namespace {

using tensor::DType;

/// The least and the largest code of a type.
std::pair<double, double> codesOf(DType type)
{
    switch (type) {
    case DType::U8:
        return {0, 255};
    case DType::I16:
        return {-32768, 32767};
    case DType::U16:
        return {0, 65535};
    case DType::I4:
        return {-8, 7};
    case DType::U4:
        return {0, 15};
    case DType::I2:
        return {-2, 1};
    case DType::U2:
        return {0, 3};
    case DType::I32:
        return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    default:
        return {-128, 127};
    }
}

double cut(double code, DType type)
{
    const auto [least, largest] = codesOf(type);
    return std::isnan(code) ? 0 : std::clamp(code, least, largest);
}

/// For each element of data, which scale is its own. fails: scales of a shape that neither an axis nor blocks give
Result<std::vector<std::size_t>> scaleOfElements(DimSpan data, DimSpan scales, std::int64_t namedAxis,
                                                 std::int64_t block)
{
    std::vector<std::size_t> which(count(data), 0);
    if (count(scales) == 1 || which.empty())
        return which;
    const auto refused = [&] {
        return badInput("input 1",
                        tensor::Shape(std::vector<std::int64_t>(scales.begin(), scales.end())).toString(),
                        "one scale, one for each place of the axis, or one for each block");
    };
    HALFTONE_TRY(const std::size_t axis, ops::resolveAxis(namedAxis, data.size()));
    const AxisView view(data, axis);
    if (block == 0) {
        if (scales.size() != 1 || count(scales) != view.length)
            return refused();
        for (std::size_t i = 0; i < which.size(); ++i)
            which[i] = i / view.inner % view.length;
        return which;
    }
    const auto length = static_cast<std::size_t>(block);
    const std::size_t blocks = (view.length + length - 1) / length;
    if (scales.size() != data.size() || count(scales) != view.outer * blocks * view.inner)
        return refused();
    for (std::size_t i = 0; i < which.size(); ++i) {
        const std::size_t outer = i / view.inner / view.length;
        which[i] = (outer * blocks + i / view.inner % view.length / length) * view.inner + i % view.inner;
    }
    return which;
}

} // namespace

template <class Real>
Result<void> compute(const ops::QuantizeLinear &op, const Arrays<Real> &arrays)
{
    HALFTONE_TRY(const auto which, scaleOfElements(arrays.inDims(0), arrays.inDims(1), op.axis, op.block));
    const DType type = arrays.operation.outputs[0].dtype;
    for (std::size_t i = 0; i < which.size(); ++i) {
        const Real scale = arrays.in[1][which[i]];
        const Real zero = op.hasZeroPoint ? arrays.in[2][arrays.inCount(2) == 1 ? 0 : which[i]] : Real(0);
        const Real scaled = arrays.in[0][i] / scale;
        if (tensor::isFloat(type)) // rounded when it is stored
            arrays.out[0][i] = op.saturates ? static_cast<Real>(tensor::saturated(type, scaled)) : scaled;
        else
            arrays.out[0][i]
                = static_cast<Real>(cut(static_cast<double>(std::nearbyint(scaled) + zero), type));
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::DequantizeLinear &op, const Arrays<Real> &arrays)
{
    HALFTONE_TRY(const auto which, scaleOfElements(arrays.inDims(0), arrays.inDims(1), op.axis, op.block));
    for (std::size_t i = 0; i < which.size(); ++i) {
        const Real zero = op.hasZeroPoint ? arrays.in[2][arrays.inCount(2) == 1 ? 0 : which[i]] : Real(0);
        arrays.out[0][i] = (arrays.in[0][i] - zero) * arrays.in[1][which[i]];
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::DynamicQuantizeLinear &, const Arrays<Real> &arrays)
{
    float low = 0;
    float high = 0;
    for (std::size_t i = 0; i < arrays.inCount(0); ++i) {
        low = std::min(low, static_cast<float>(arrays.in[0][i]));
        high = std::max(high, static_cast<float>(arrays.in[0][i]));
    }
    const DynamicScale scale = dynamicScale(low, high);
    for (std::size_t i = 0; i < arrays.inCount(0); ++i)
        arrays.out[0][i] = static_cast<Real>(scale.codeOf(static_cast<float>(arrays.in[0][i])));
    if (arrays.out[1])
        arrays.out[1][0] = static_cast<Real>(scale.scale);
    if (arrays.out[2])
        arrays.out[2][0] = static_cast<Real>(scale.zero);
    return {};
}

namespace {

/// Codes less their zero points: one for all, or one for each place of an axis.
template <class Real>
std::vector<double> centred(const Arrays<Real> &arrays, std::size_t input, std::optional<std::size_t> zero,
                            std::size_t axis)
{
    std::vector<double> values(arrays.in[input], arrays.in[input] + arrays.inCount(input));
    if (!zero)
        return values;
    const DimSpan dims = arrays.inDims(input);
    const std::size_t inner = dims.empty() ? 1 : extent(dims, axis + 1, dims.size());
    const std::size_t zeros = arrays.inCount(*zero);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] -= static_cast<double>(arrays.in[*zero][zeros == 1 ? 0 : i / inner % zeros]);
    return values;
}

/// The sums of a product, computed by `op` from data and weight in double, which holds them exactly.
template <class Op, class Real>
Result<std::vector<double>> sumsOf(const Op &op, const Arrays<Real> &arrays, const std::vector<double> &data,
                                   const std::vector<double> &weight, std::size_t weightInput)
{
    kernels::Operation product{op, arrays.operation.opName, {}, {}};
    for (const std::size_t i : {std::size_t{0}, weightInput})
        product.inputs.push_back({DType::F64, arrays.operation.inputs[i].shape});
    product.outputs.push_back({DType::F64, arrays.operation.outputs[0].shape});
    std::vector<double> sums(arrays.outCount(0));
    const Arrays<double> inner{product, arrays.workers, {data.data(), weight.data()}, {sums.data()}};
    HALFTONE_CHECK(compute(op, inner));
    return sums;
}

template <class Real>
void storeSums(const std::vector<double> &sums, const Arrays<Real> &arrays)
{
    std::ranges::transform(sums, arrays.out[0], [](double sum) { return static_cast<Real>(sum); });
}

template <class Real>
double numberAt(const Arrays<Real> &arrays, std::size_t input, std::size_t i)
{
    return static_cast<double>(arrays.in[input][arrays.inCount(input) == 1 ? 0 : i]);
}

} // namespace

template <class Real>
Result<void> compute(const ops::CodedConv &op, const Arrays<Real> &arrays)
{
    ops::Conv conv = op.conv;
    conv.hasBias = false;
    const std::size_t weight = op.recodes ? 3 : 1;
    using Place = std::optional<std::size_t>;
    const Place dataZero = op.recodes ? Place(2) : op.hasDataZero ? Place(2) : std::nullopt;
    const Place weightZero = op.recodes ? Place(5)
        : op.hasWeightZero              ? Place(op.hasDataZero ? 3 : 2)
                                        : std::nullopt;
    HALFTONE_TRY(std::vector<double> sums,
                 sumsOf(conv, arrays, centred(arrays, 0, dataZero, 1), centred(arrays, weight, weightZero, 0),
                        weight));
    if (!op.recodes) {
        storeSums(sums, arrays);
        return {};
    }
    const AxisView view(arrays.outDims(0), 1);
    const DType type = arrays.operation.outputs[0].dtype;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::size_t channel = i / view.inner % view.length;
        const double bias = op.conv.hasBias ? static_cast<double>(arrays.in[8][channel]) : 0;
        const double scale = numberAt(arrays, 1, 0) * numberAt(arrays, 4, channel) / numberAt(arrays, 6, 0);
        arrays.out[0][i]
            = static_cast<Real>(cut(std::nearbyint((sums[i] + bias) * scale) + numberAt(arrays, 7, 0), type));
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::CodedMatMul &op, const Arrays<Real> &arrays)
{
    const ops::MatMul product{.form = ops::MatMul::Form::Stretched};
    const std::size_t second = op.recodes ? 3 : 1;
    using Place = std::optional<std::size_t>;
    const Place firstZero = op.recodes || op.hasFirstZero ? Place(2) : std::nullopt;
    const Place secondZero = op.recodes ? Place(5)
        : op.hasSecondZero              ? Place(op.hasFirstZero ? 3 : 2)
                                        : std::nullopt;
    const std::size_t rank = arrays.inDims(0).size();
    const std::size_t columns = arrays.inDims(second).empty() ? 0 : arrays.inDims(second).size() - 1;
    HALFTONE_TRY(std::vector<double> sums,
                 sumsOf(product, arrays, centred(arrays, 0, firstZero, rank < 2 ? 0 : rank - 2),
                        centred(arrays, second, secondZero, columns), second));
    if (!op.recodes) {
        storeSums(sums, arrays);
        return {};
    }
    const DimSpan out = arrays.outDims(0);
    const std::size_t width
        = out.empty() || arrays.inDims(second).size() < 2 ? 1 : static_cast<std::size_t>(out.back());
    const DType type = arrays.operation.outputs[0].dtype;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const double scale = numberAt(arrays, 1, i / width % std::max<std::size_t>(arrays.inCount(1), 1))
            * numberAt(arrays, 4, i % width)
            / numberAt(arrays, 6, i % width % std::max<std::size_t>(arrays.inCount(6), 1));
        const double zero = numberAt(arrays, 7, i % width % std::max<std::size_t>(arrays.inCount(7), 1));
        arrays.out[0][i] = static_cast<Real>(cut(std::nearbyint(sums[i] * scale) + zero, type));
    }
    return {};
}

HALFTONE_BOTH(QuantizeLinear)
HALFTONE_BOTH(DequantizeLinear)
HALFTONE_BOTH(DynamicQuantizeLinear)
HALFTONE_BOTH(CodedConv)
HALFTONE_BOTH(CodedMatMul)

} // namespace halftone::backends::reference
