#include "core/backends/onednn/ranged_kernel.h"

#include "core/backends/onednn/node_kernel.h"

#include <cstring>
#include <span>
#include <utility>

namespace halftone::backends::onednn {
namespace {

using tensor::DType;

class RangedKernel final : public kernels::Kernel
{
public:
    RangedKernel(kernels::Operation operation, std::vector<std::size_t> ranges, int threads,
                 std::unique_ptr<kernels::Kernel> fallback)
        : m_operation(std::move(operation))
        , m_ranges(std::move(ranges))
        , m_threads(threads)
        , m_fallback(std::move(fallback))
    {
        m_operation.constants.resize(m_operation.inputs.size());
    }

    std::string name() const override { return m_kernel ? m_kernel->name() : "oneDNN int8"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        std::vector<float> values;
        for (const std::size_t input : m_ranges)
            std::memcpy(&values.emplace_back(), inputs[input], sizeof(float));
        if (values != m_values) {
            auto kernel = prepare(values);
            if (!kernel.ok() && kernel.error().code == Errc::NoMemory)
                return std::move(kernel).error();
            m_kernel = kernel.ok() ? std::move(kernel).value() : nullptr;
            m_values = std::move(values);
        }
        return (m_kernel ? *m_kernel : *m_fallback).run(inputs, outputs);
    }

    Result<std::unique_ptr<kernels::Kernel>> prepare(std::span<const float> values)
    {
        for (std::size_t k = 0; k < m_ranges.size(); ++k) {
            const auto bytes = std::as_bytes(values.subspan(k, 1));
            m_operation.constants[m_ranges[k]] = tensor::Tensor::owning(
                DType::F32, m_operation.inputs[m_ranges[k]].shape, {bytes.begin(), bytes.end()});
        }
        return nodeKernel(m_operation, m_threads, nullptr);
    }

private:
    kernels::Operation m_operation;
    std::vector<std::size_t> m_ranges; ///< inputs
    int m_threads = 0;
    std::unique_ptr<kernels::Kernel> m_fallback;
    std::vector<float> m_values; ///< of the ranges, that the kernel was made for; empty before the first run
    std::unique_ptr<kernels::Kernel> m_kernel; ///< null: the fallback computes
};

template <class... Ops>
bool isOneOf(const ops::Operator &op)
{
    return (op.is<Ops>() || ...);
}

std::vector<std::size_t> rangesOf(const ops::FusedProduct &op)
{
    std::vector<std::size_t> ranges{op.ends(), op.ends() + 1};
    if (op.hasSum)
        ranges.insert(ranges.end(), {op.addendEnds(), op.addendEnds() + 1});
    return ranges;
}

Result<void> checkParameters(const ops::FusedProduct &op, const kernels::Operation &operation)
{
    const std::size_t parameters = op.codedWeights ? op.inputCount() : op.addend();
    for (std::size_t k = 1; k < parameters; ++k) {
        const bool isParameter = k < op.addend() || (op.codedWeights && k >= op.weightEnds());
        if (isParameter && !operation.isConstant(k))
            return unsupported("plan", "weights that are only known at run time");
    }
    return {};
}

} // namespace

std::vector<std::size_t> openRanges(const kernels::Operation &operation)
{
    using namespace ops;
    std::vector<std::size_t> ranges;
    if (const auto *product = operation.op.getIf<FusedProduct>()) {
        ranges = rangesOf(*product);
    } else if (isOneOf<Requantize, Dequantize, Quantized<Conv>, Quantized<FullyConnected>, Quantized<Pool>,
                       Quantized<Activation>, Quantized<BatchNormalization>, Quantized<Concat>,
                       Quantized<Binary>>(operation.op)) {
        for (std::size_t k = 1; k < operation.inputs.size(); ++k)
            if (operation.inputs[k] == kernels::TensorDesc{DType::F32, tensor::Shape{1}})
                ranges.push_back(k);
    }
    std::erase_if(ranges, [&operation](std::size_t input) { return operation.isConstant(input); });
    return ranges;
}

Result<std::unique_ptr<kernels::Kernel>> rangedKernel(const kernels::Operation &operation,
                                                      std::vector<std::size_t> ranges, int threads,
                                                      const kernels::Backend &fallback)
{
    const auto *const product = operation.op.getIf<ops::FusedProduct>();
    if (product)
        HALFTONE_CHECK(checkParameters(*product, operation));
    HALFTONE_TRY(std::unique_ptr<kernels::Kernel> otherwise, fallback.prepare(operation));
    std::vector<float> some; // lows and highs follow each other
    for (std::size_t k = 0; k < ranges.size(); ++k)
        some.push_back(k % 2 == 0 ? 0 : 1);
    auto kernel = std::make_unique<RangedKernel>(operation, std::move(ranges), threads, std::move(otherwise));
    if (!product) { // whose weights would be packed twice
        if (const auto tried = kernel->prepare(some); !tried.ok())
            return tried.error();
    }
    return std::unique_ptr<kernels::Kernel>(std::move(kernel));
}

} // namespace halftone::backends::onednn
