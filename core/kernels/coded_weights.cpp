#include "core/kernels/coded_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace halftone::kernels {
namespace {

using ops::codesOfData;
using ops::scaleOfRange;
using tensor::DType;

constexpr double kLargestCode = 2147483647.0; ///< of 32 bits

template <class T>
std::vector<T> copied(const std::byte *bytes, std::size_t count)
{
    std::vector<T> values(count);
    if (count > 0)
        std::memcpy(values.data(), bytes, count * sizeof(T));
    return values;
}

double largest(const float *values, std::size_t count)
{
    float amax = 0;
    for (std::size_t i = 0; i < count; ++i)
        amax = std::max(amax, std::abs(values[i]));
    return amax;
}

std::int32_t clamped(double value)
{
    return static_cast<std::int32_t>(std::clamp(value, -kLargestCode, kLargestCode));
}

/// Codes of weights for 1 as the sums of a plain operator count them, whose range passes through a float32.
double plainScale(double scale, double dataScale)
{
    const double codes = codesOfData(DType::I8);
    const double whole = scale * (codes - 0.5) / codes;
    const auto most = static_cast<float>(kLargestCode / (dataScale * whole));
    return kLargestCode / double{most} / dataScale;
}

/// Weights and bias that are codes already.
CodedWeights withGivenCodes(const ops::FusedProduct &op, const std::vector<TensorDesc> &descs,
                            std::span<const std::byte *const> inputs, double dataScale)
{
    const auto end = [&](std::size_t place) { return double{copied<float>(inputs[place], 1)[0]}; };
    CodedWeights weights;
    weights.codes = copied<std::int8_t>(inputs[1], static_cast<std::size_t>(*descs[1].shape.elementCount()));
    const double scale = scaleOfRange(DType::I8, end(op.weightEnds()), end(op.weightEnds() + 1));
    weights.scales = {op.isPlain ? plainScale(scale, dataScale) : scale};
    if (!op.hasBias())
        return weights;
    const auto count = static_cast<std::size_t>(*descs[op.bias()].shape.elementCount());
    const double most = std::max(std::abs(end(op.weightEnds() + 2)), std::abs(end(op.weightEnds() + 3)));
    const std::vector<std::int8_t> codes = copied<std::int8_t>(inputs[op.bias()], count);
    if (op.isPlain) { // a bias counts half a code more than the sums do; in the order of the plain operator
        const double scaleOfData = scaleOfRange(descs[0].dtype, end(op.ends()), end(op.ends() + 1));
        const double factor = scaleOfData * scale * most / codesOfData(DType::I8);
        for (const std::int8_t code : codes)
            weights.bias.push_back(clamped(std::trunc(code * factor)));
        return weights;
    }
    const double biasScale = scaleOfRange(DType::I8, -most, most);
    double factor = dataScale * scale / biasScale;
    // A bias that sums could not hold beside anything else (beyond half of 32 bits) makes the weights' codes smaller.
    if (const double room = std::floor(kLargestCode / 2) / most / biasScale; factor > room) {
        const double smaller = room / factor;
        for (std::int8_t &code : weights.codes)
            code = static_cast<std::int8_t>(std::round(code * smaller));
        weights.scales[0] *= smaller;
        factor = room;
    }
    for (const std::int8_t code : codes)
        weights.bias.push_back(clamped(std::round(code * factor)));
    return weights;
}

} // namespace

CodedWeights codeWeights(const ops::FusedProduct &op, const std::vector<TensorDesc> &descs,
                         std::span<const std::byte *const> inputs, double dataScale)
{
    if (op.codedWeights)
        return withGivenCodes(op, descs, inputs, dataScale);
    const auto count = static_cast<std::size_t>(*descs[1].shape.elementCount());
    std::vector<float> real = copied<float>(inputs[1], count);
    const auto channels = static_cast<std::size_t>(descs[1].shape[0]);
    const std::size_t each = channels > 0 ? count / channels : 0;
    std::vector<float> bias
        = op.hasBias() ? copied<float>(inputs[op.bias()], channels) : std::vector<float>();
    if (op.norm) {
        bias.resize(channels);
        const auto part = [&](std::size_t k) { return copied<float>(inputs[op.gamma() + k], channels); };
        const std::vector<float> gamma = part(0), beta = part(1), mean = part(2), variance = part(3);
        for (std::size_t c = 0; c < channels; ++c) {
            const float factor = (op.norm->fixGamma ? 1 : gamma[c])
                / std::sqrt(variance[c] + static_cast<float>(op.norm->epsilon));
            for (std::size_t i = 0; i < each; ++i)
                real[c * each + i] *= factor;
            bias[c] = beta[c] + factor * (bias[c] - mean[c]);
        }
    }
    CodedWeights weights;
    // Without a calibrated range one scale must do for the sums of all channels.
    const bool isPerChannel = op.isCalibrated() || op.realOutput || !op.conv;
    for (std::size_t c = 0; c < (isPerChannel ? channels : 1); ++c) {
        const double amax
            = isPerChannel ? largest(real.data() + c * each, each) : largest(real.data(), count);
        double scale = amax > 0 ? codesOfData(DType::I8) / amax : kLargestCode;
        if (isPerChannel && !bias.empty() && bias[c] != 0)
            scale = std::min(scale, kLargestCode / 2 / std::abs(double{bias[c]}) / dataScale);
        weights.scales.push_back(static_cast<float>(scale));
    }
    weights.codes.resize(count);
    for (std::size_t c = 0; c < channels; ++c) {
        const auto scale = static_cast<float>(weights.scaleOf(c));
        for (std::size_t i = c * each; i < (c + 1) * each; ++i)
            weights.codes[i]
                = static_cast<std::int8_t>(std::clamp(std::nearbyint(real[i] * scale), -128.0F, 127.0F));
        if (!bias.empty())
            weights.bias.push_back(clamped(std::nearbyint(double{bias[c]} * weights.scaleOf(c) * dataScale)));
    }
    return weights;
}

} // namespace halftone::kernels
