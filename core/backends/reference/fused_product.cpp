#include "core/backends/reference/kernels.h"
#include "core/backends/reference/quantized.h"
#include "core/kernels/coded_weights.h"
#include "core/ops/element_function.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace halftone::backends::reference {
namespace {

using tensor::DType;

/// `value` as the codes say it.
double throughCodes(const ops::Requantized &codes, double value)
{
    const bool isSigned = codes.type == DType::I8;
    const double code = std::clamp(std::nearbyint(value * codes.scale()), isSigned ? -128.0 : 0.0,
                                   isSigned ? 127.0 : 255.0);
    return code * codes.most / ops::codesOfData(codes.type);
}

/// Sums in 64-bit reals, which hold every sum of codes exactly.
class CodeProduct
{
public:
    CodeProduct(const ops::FusedProduct &op, const RawArrays &arrays)
        : m_op(op)
        , m_operation(arrays.operation)
        , m_workers(arrays.workers)
        , m_inputs(arrays.in)
        , m_outputs(arrays.out)
    {
    }

    void run() const
    {
        const DType dataType = m_operation.inputs[0].dtype;
        const double dataScale = m_op.dataScale(dataType, real(m_op.ends()), real(m_op.ends() + 1));
        const kernels::CodedWeights weights
            = kernels::codeWeights(m_op, m_operation.inputs, m_inputs, dataScale);
        std::vector<double> sums = products(weights);
        addBias(sums, weights);
        finish(sums, weights, dataScale);
    }

private:
    /// The number that an input of one element holds.
    double real(std::size_t input) const
    {
        float value = 0;
        std::memcpy(&value, m_inputs[input], sizeof value);
        return double{value};
    }

    std::vector<double> products(const kernels::CodedWeights &weights) const
    {
        const kernels::TensorDesc &result = m_operation.outputs[0];
        kernels::Operation inner;
        inner.inputs = {{DType::F64, m_operation.inputs[0].shape}, {DType::F64, m_operation.inputs[1].shape}};
        inner.outputs = {{DType::F64, result.shape}};
        std::vector<double> from(static_cast<std::size_t>(*m_operation.inputs[0].shape.elementCount()));
        widen(m_operation.inputs[0].dtype, m_inputs[0], from.size(), from.data());
        const std::vector<double> codes(weights.codes.begin(), weights.codes.end());
        std::vector<double> sums(static_cast<std::size_t>(*result.shape.elementCount()));
        const Arrays<double> arrays{inner, m_workers, {from.data(), codes.data()}, {sums.data()}};
        // The kernels of reals refuse nothing that shapes have not refused before.
        if (m_op.conv) {
            ops::Conv conv = *m_op.conv;
            conv.hasBias = false;
            inner.op = conv;
            (void)compute(conv, arrays);
        } else {
            ops::FullyConnected full = m_op.full;
            full.hasBias = false;
            inner.op = full;
            (void)compute(full, arrays);
        }
        return sums;
    }

    /// Channel of the element at `i` of the result.
    std::size_t channelOf(std::size_t i) const
    {
        const auto dims = m_operation.outputs[0].shape.dims();
        if (m_op.conv)
            return i / extent(dims, 2, dims.size()) % static_cast<std::size_t>(dims[1]);
        return i % static_cast<std::size_t>(dims.back());
    }

    void addBias(std::vector<double> &sums, const kernels::CodedWeights &weights) const
    {
        for (std::size_t i = 0; i < sums.size() && !weights.bias.empty(); ++i)
            sums[i] += weights.bias[channelOf(i)];
    }

    void finish(const std::vector<double> &sums, const kernels::CodedWeights &weights, double dataScale) const
    {
        constexpr double kSums = 2147483647.0;
        const DType type = m_operation.outputs[0].dtype;
        const bool isSum = type == DType::I32;
        double low = m_op.range.low.value_or(0);
        double high = m_op.range.high.value_or(0);
        if (isSum) {
            // MXNet's ranges of sums count 127 and 255 levels, though its oneDNN operators spend half a level more.
            const auto wider
                = [](DType codes) { return ops::codesOfData(codes) / (ops::codesOfData(codes) - 0.5); };
            high = kSums / (dataScale * weights.scaleOf(0)) * wider(m_operation.inputs[0].dtype)
                * wider(DType::I8);
            low = -high;
        }
        // Codes for 1 of the result.
        const double scale = m_op.realOutput ? 1
            : isSum                          ? dataScale * weights.scaleOf(0)
                                             : ops::scaleOfRange(type, low, high);
        std::vector<double> addend;
        double addendStep = 0;
        if (m_op.hasSum) {
            const kernels::TensorDesc &desc = m_operation.inputs[m_op.addend()];
            addend.resize(sums.size());
            widen(desc.dtype, m_inputs[m_op.addend()], addend.size(), addend.data());
            addendStep
                = scale / ops::scaleOfRange(desc.dtype, real(m_op.addendEnds()), real(m_op.addendEnds() + 1));
        }
        const double least = type == DType::U8 ? 0 : isSum ? -kSums - 1 : -128;
        const double most = type == DType::U8 ? 255 : isSum ? kSums : 127;
        const auto function = m_op.activation;
        std::vector<double> result(sums.size());
        for (std::size_t i = 0; i < sums.size(); ++i) {
            double value = sums[i] / (dataScale * weights.scaleOf(channelOf(i)));
            if (m_op.requantized)
                value = throughCodes(*m_op.requantized, value);
            if (m_op.hasSum)
                value += addend[i] * addendStep / scale;
            if (function)
                value = ops::valueOf(*function, value);
            value = std::min(std::max(value, m_op.limits.low.value_or(-HUGE_VAL)),
                             m_op.limits.high.value_or(HUGE_VAL));
            value *= scale;
            result[i] = m_op.realOutput ? value : std::clamp(std::nearbyint(value), least, most);
        }
        if (m_outputs[0])
            narrow(result.data(), result.size(), type, m_outputs[0]);
        for (const auto &[k, end] : {std::pair(std::size_t{1}, low), std::pair(std::size_t{2}, high)}) {
            const auto value = static_cast<float>(end);
            if (k < m_outputs.size() && m_outputs[k])
                std::memcpy(m_outputs[k], &value, sizeof value);
        }
    }

    const ops::FusedProduct &m_op;
    const kernels::Operation &m_operation;
    const kernels::Workers &m_workers;
    std::span<const std::byte *const> m_inputs;
    std::span<std::byte *const> m_outputs;
};

} // namespace

Result<void> computeRaw(const ops::FusedProduct &op, const RawArrays &arrays)
{
    CodeProduct(op, arrays).run();
    return {};
}

} // namespace halftone::backends::reference
