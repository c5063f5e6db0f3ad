#include "core/quantize/pair_codes.h"

#include "core/dialect/dialect.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace halftone::quantize {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

constexpr int kMostCode = 127; ///< of weights: -128 is left out, so that the codes are symmetric
constexpr float kMostBiasCode = 1 << 30; ///< leaves room for the products themselves

template <class T>
Tensor tensorOf(DType type, Shape shape, const std::vector<T> &values)
{
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    if (!values.empty())
        std::memcpy(bytes.data(), values.data(), bytes.size());
    return Tensor::owning(type, std::move(shape), std::move(bytes));
}

Shape shapeOf(const std::vector<float> &scales, bool isPerChannel)
{
    return isPerChannel ? Shape{static_cast<std::int64_t>(scales.size())}
                        : Shape(std::vector<std::int64_t>());
}

/// A scale for codes up to `most` that hold values up to `largest`; never zero, nor so small that it has lost digits.
float scaleFor(float largest, float most)
{
    const float scale = largest / most;
    return scale >= std::numeric_limits<float>::min() ? scale : 1.0F;
}

std::size_t product(std::span<const std::int64_t> dims)
{
    std::size_t all = 1;
    for (const std::int64_t dim : dims)
        all *= static_cast<std::size_t>(dim);
    return all;
}

} // namespace

PairCodes dataCodes(const QuantizedRange &range, QuantizedCodes codes)
{
    const float low = std::min(range.low, 0.0F);
    const float high = std::max(range.high, 0.0F);
    PairCodes made;
    const Shape scalar{std::vector<std::int64_t>()};
    if (codes == QuantizedCodes::Int8) {
        made.scales = {scaleFor(std::max(-low, high), kMostCode)};
        made.zeroPoint = tensorOf(DType::I8, scalar, std::vector<std::int8_t>{0});
    } else {
        made.scales = {scaleFor(high - low, 255)};
        const float zero = std::clamp(std::nearbyint(-low / made.scales[0]), 0.0F, 255.0F);
        made.zeroPoint = tensorOf(DType::U8, scalar, std::vector{static_cast<std::uint8_t>(zero)});
    }
    made.scale = tensorOf(DType::F32, scalar, made.scales);
    return made;
}

PairCodes weightCodes(const Tensor &values, std::optional<std::size_t> axis,
                      std::span<const float> leastScales)
{
    const std::vector<float> reals = values.values<float>();
    const auto dims = values.shape().dims();
    const std::size_t channels = axis ? static_cast<std::size_t>(dims[*axis]) : 1;
    const std::size_t inner
        = axis ? product(dims.subspan(*axis + 1)) : std::max<std::size_t>(1, reals.size());
    const auto channelOf = [&](std::size_t k) { return k / inner % channels; };
    std::vector<float> largest(channels);
    for (std::size_t k = 0; k < reals.size(); ++k)
        largest[channelOf(k)] = std::max(largest[channelOf(k)], std::abs(reals[k]));
    PairCodes made;
    for (const float value : largest)
        made.scales.push_back(scaleFor(value, kMostCode));
    for (std::size_t k = 0; k < leastScales.size(); ++k) {
        float &scale = made.scales[axis ? k : 0];
        scale = std::max(scale, leastScales[k]);
    }
    std::vector<std::int8_t> codes(reals.size());
    for (std::size_t k = 0; k < reals.size(); ++k) {
        const float code = std::nearbyint(reals[k] / made.scales[channelOf(k)]);
        codes[k] = static_cast<std::int8_t>(std::clamp<float>(code, -kMostCode, kMostCode));
    }
    made.codes = tensorOf(DType::I8, values.shape(), codes);
    made.scale = tensorOf(DType::F32, shapeOf(made.scales, axis.has_value()), made.scales);
    made.zeroPoint = tensorOf(DType::I8, shapeOf(made.scales, axis.has_value()),
                              std::vector<std::int8_t>(made.scales.size()));
    return made;
}

std::vector<float> leastWeightScales(std::span<const float> bias, float dataScale)
{
    std::vector<float> least;
    for (const float value : bias)
        least.push_back(std::abs(value) / kMostBiasCode / dataScale);
    return least;
}

PairCodes biasCodes(const Tensor &values, float dataScale, std::span<const float> weightScales)
{
    PairCodes made;
    for (const float scale : weightScales)
        made.scales.push_back(dataScale * scale);
    const std::vector<float> reals = values.values<float>();
    std::vector<std::int32_t> codes(reals.size());
    constexpr double kMost = std::numeric_limits<std::int32_t>::max();
    for (std::size_t k = 0; k < reals.size(); ++k) {
        const double scale = made.scales[made.scales.size() > 1 ? k : 0];
        codes[k] = static_cast<std::int32_t>(std::clamp(std::nearbyint(reals[k] / scale), -kMost, kMost));
    }
    made.codes = tensorOf(DType::I32, values.shape(), codes);
    made.scale = tensorOf(DType::F32, shapeOf(made.scales, made.scales.size() > 1), made.scales);
    return made;
}

std::optional<Tensor> decodedConstant(const graph::Graph &graph, graph::NodeId decode,
                                      const std::unordered_map<graph::NodeId, Tensor> &constants)
{
    const auto inputs = graph.inputs(decode);
    const auto op = dialect::of(graph).read(graph.node(decode));
    const auto *const form = op.ok() ? op.value().getIf<ops::DequantizeLinear>() : nullptr;
    if (form == nullptr || form->block != 0 || !std::ranges::all_of(inputs, [&](const graph::Entry &entry) {
            return constants.contains(entry.node);
        }))
        return std::nullopt;
    const Tensor &codes = constants.at(inputs[0].node);
    const Tensor &scale = constants.at(inputs[1].node);
    const auto isCode
        = [](DType type) { return type == DType::I8 || type == DType::U8 || type == DType::I32; };
    if (!isCode(codes.dtype()) || scale.dtype() != DType::F32)
        return std::nullopt;
    const auto valuesOf = [](const Tensor &tensor) {
        std::vector<double> values(tensor.elementCount());
        tensor::widen(tensor.dtype(), tensor.bytes().data(), values.size(), values.data());
        return values;
    };
    const std::vector<float> scales = scale.values<float>();
    const std::vector<double> zeros
        = inputs.size() > 2 ? valuesOf(constants.at(inputs[2].node)) : std::vector<double>(scales.size());
    const auto dims = codes.shape().dims();
    const auto rank = static_cast<std::int64_t>(dims.size());
    const std::int64_t axis = form->axis < 0 ? form->axis + rank : form->axis;
    const bool isPerChannel = scales.size() > 1;
    if (isPerChannel
        && (axis < 0 || axis >= rank
            || static_cast<std::size_t>(dims[static_cast<std::size_t>(axis)]) != scales.size()))
        return std::nullopt;
    const std::size_t inner = isPerChannel ? product(dims.subspan(static_cast<std::size_t>(axis) + 1))
                                           : std::max<std::size_t>(1, codes.elementCount());
    const std::vector<double> whole = valuesOf(codes);
    std::vector<float> reals(whole.size());
    for (std::size_t k = 0; k < whole.size(); ++k) {
        const std::size_t channel = k / inner % scales.size();
        reals[k] = static_cast<float>(whole[k] - zeros[channel]) * scales[channel];
    }
    return tensorOf(DType::F32, codes.shape(), reals);
}

} // namespace halftone::quantize
