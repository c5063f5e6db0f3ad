#include "core/backends/onednn/emulated_kernel.h"

#include "core/backends/onednn/dnnl_common.h"
#include "core/backends/onednn/float16_kernels.h"
#include "core/backends/onednn/lower.h"
#include "core/backends/onednn/scratch.h"
#include "core/base/memory.h"
#include "core/kernels/buffer.h"
#include "core/tensor/elements.h"

#include <utility>

namespace halftone::backends::onednn {
namespace {

using tensor::DType;

bool hasNativeBfloat16()
{
    return includes(dnnl::get_effective_cpu_isa(), dnnl::cpu_isa::avx512_core_bf16);
}

std::size_t countOf(const kernels::TensorDesc &desc)
{
    return static_cast<std::size_t>(desc.shape.elementCount().value_or(0));
}

/// `tensor`, of an emulated type, in float32.
Result<tensor::Tensor> widenedTensor(const tensor::Tensor &tensor)
{
    HALFTONE_TRY(const kernels::Buffer buffer, kernels::allocate({DType::F32, tensor.shape()}));
    tensor::widen(tensor.dtype(), tensor.bytes().data(), static_cast<std::size_t>(tensor.elementCount()),
                  reinterpret_cast<float *>(buffer.bytes));
    return buffer.tensor;
}

/// Computes in float32 what comes and goes in a narrower type.
class EmulatedKernel final : public kernels::Kernel
{
public:
    EmulatedKernel(kernels::Operation operation, std::unique_ptr<kernels::Kernel> wide)
        : m_operation(std::move(operation))
        , m_wide(std::move(wide))
    {
        for (std::size_t k = 0; k < m_operation.inputs.size(); ++k)
            m_places.push_back(place(m_operation.inputs[k], !m_operation.isConstant(k)));
        for (const kernels::TensorDesc &desc : m_operation.outputs)
            m_places.push_back(place(desc, true));
    }

    std::string name() const override { return m_wide->name() + ", emulated"; }
    void setStop(std::stop_token stop) override { m_wide->setStop(std::move(stop)); }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        // Lent: with a buffer of its own, every node of a network, for each size of picture, would hold two activations.
        const ScratchLease lease(m_bytes);
        if (lease.data() == nullptr)
            return outOfMemory(m_bytes, "values in float32");
        std::vector<const std::byte *> from(inputs.begin(), inputs.end());
        std::vector<std::byte *> to(outputs.begin(), outputs.end());
        for (std::size_t k = 0; k < from.size(); ++k) {
            if (!m_places[k])
                continue;
            std::byte *const wide = lease.data() + *m_places[k];
            tensor::widen(m_operation.inputs[k].dtype, from[k], countOf(m_operation.inputs[k]),
                          reinterpret_cast<float *>(wide));
            from[k] = wide;
        }
        for (std::size_t k = 0; k < to.size(); ++k)
            if (m_places[from.size() + k])
                to[k] = lease.data() + *m_places[from.size() + k];
        HALFTONE_CHECK(m_wide->run(from, to));
        for (std::size_t k = 0; k < to.size(); ++k)
            if (m_places[from.size() + k])
                tensor::narrow(reinterpret_cast<const float *>(to[k]), countOf(m_operation.outputs[k]),
                               m_operation.outputs[k].dtype, outputs[k]);
        return {};
    }

private:
    /// In what is lent; nothing for what comes and goes as it is.
    std::optional<std::size_t> place(const kernels::TensorDesc &desc, bool isNeeded)
    {
        if (!isNeeded || !isEmulated(desc.dtype))
            return std::nullopt;
        constexpr std::size_t kUnit = kernels::kAlignment;
        const std::size_t at = m_bytes;
        m_bytes += (countOf(desc) * sizeof(float) + kUnit - 1) / kUnit * kUnit;
        return at;
    }

    kernels::Operation m_operation;
    std::unique_ptr<kernels::Kernel> m_wide;
    std::vector<std::optional<std::size_t>> m_places; ///< of inputs, then of outputs
    std::size_t m_bytes = 0;
};

} // namespace

bool isEmulated(DType type)
{
    return (type == DType::F16 && !hasNativeFloat16()) || tensor::isForAnalysis(type)
        || (type == DType::BF16 && !hasNativeBfloat16());
}

Result<std::optional<kernels::Operation>> widened(const kernels::Operation &operation)
{
    kernels::Operation wide = operation;
    bool emulates = false;
    for (auto *descs : {&wide.inputs, &wide.outputs}) {
        for (kernels::TensorDesc &desc : *descs) {
            if (isEmulated(desc.dtype)) {
                desc.dtype = DType::F32;
                emulates = true;
            }
        }
    }
    if (!emulates)
        return std::optional<kernels::Operation>();
    for (tensor::Tensor &constant : wide.constants) {
        if (isEmulated(constant.dtype())) {
            HALFTONE_TRY(constant, widenedTensor(constant));
        }
    }
    if (!operation.inputs.empty())
        wide.op = withScalarIn(operation.inputs[0].dtype, operation.op);
    return std::optional(std::move(wide));
}

std::unique_ptr<kernels::Kernel> emulatedKernel(kernels::Operation operation,
                                                std::unique_ptr<kernels::Kernel> wide)
{
    return std::make_unique<EmulatedKernel>(std::move(operation), std::move(wide));
}

} // namespace halftone::backends::onednn
