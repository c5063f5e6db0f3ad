#include "core/backends/runtime_arithmetic.h"

#include "core/tensor/bfloat16.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

namespace halftone::backends {
namespace {

using kernels::Kernel;
using kernels::Operation;
using kernels::TensorDesc;
using tensor::DType;

std::size_t countOf(const TensorDesc &desc)
{
    return static_cast<std::size_t>(desc.shape.elementCount().value_or(0));
}

/// The upper half of a float and nothing of the lower.
std::uint16_t cut(float value)
{
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

/// Computes in float32 and leaves out the lower halves of the results.
class CuttingKernel final : public Kernel
{
public:
    CuttingKernel(Operation operation, std::unique_ptr<Kernel> wide)
        : m_operation(std::move(operation))
        , m_wide(std::move(wide))
    {
    }

    std::string name() const override { return m_wide->name() + ", cut to bfloat16"; }
    void setStop(std::stop_token stop) override { m_wide->setStop(std::move(stop)); }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        std::vector<std::vector<float>> from;
        std::vector<const std::byte *> wideInputs;
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            from.push_back(widened(inputs[k], countOf(m_operation.inputs[k])));
            wideInputs.push_back(reinterpret_cast<const std::byte *>(from.back().data()));
        }
        std::vector<float> to(countOf(m_operation.outputs[0]));
        std::byte *const wideOutput = reinterpret_cast<std::byte *>(to.data());
        HALFTONE_CHECK(m_wide->run(wideInputs, std::span(&wideOutput, 1)));
        for (std::size_t i = 0; i < to.size(); ++i) {
            const std::uint16_t bits = cut(to[i]);
            std::memcpy(outputs[0] + i * sizeof bits, &bits, sizeof bits);
        }
        return {};
    }

private:
    static std::vector<float> widened(const std::byte *bytes, std::size_t count)
    {
        std::vector<float> values(count);
        for (std::size_t i = 0; i < count; ++i) {
            std::uint16_t bits = 0;
            std::memcpy(&bits, bytes + i * sizeof bits, sizeof bits);
            values[i] = tensor::floatFromBfloat16(bits);
        }
        return values;
    }

    Operation m_operation;
    std::unique_ptr<Kernel> m_wide;
};

bool cutsBfloat16(const dialect::Arithmetic &arithmetic, const Operation &operation)
{
    const auto isNarrow = [](const TensorDesc &desc) { return desc.dtype == DType::BF16; };
    return operation.outputs.size() == 1 && std::ranges::all_of(operation.inputs, isNarrow)
        && std::ranges::all_of(operation.outputs, isNarrow)
        && arithmetic.bfloat16Way(operation.op) == dialect::Bfloat16Way::Cuts;
}

/// With float32 in place of bfloat16; a constant operand is bfloat16, too.
Operation widened(Operation operation)
{
    for (auto *const descs : {&operation.inputs, &operation.outputs}) {
        for (TensorDesc &desc : *descs)
            desc.dtype = DType::F32;
    }
    operation.constants.clear();
    if (const auto *scalar = operation.op.getIf<ops::ScalarBinary>()) {
        ops::ScalarBinary narrow = *scalar;
        narrow.scalar = double{tensor::floatFromBfloat16(cut(static_cast<float>(scalar->scalar)))};
        operation.op = narrow;
    }
    return operation;
}

/// The sum with the codes that the runtime's has; nothing where they are the same.
std::optional<ops::FusedProduct> cutSum(const dialect::Arithmetic &arithmetic, const ops::FusedProduct &fused,
                                        const Operation &operation)
{
    if (!fused.hasSum || !fused.isCalibrated() || fused.realOutput)
        return std::nullopt;
    const DType result = operation.outputs[0].dtype;
    const auto span = arithmetic.codesOfSum(operation.inputs[fused.addend()].dtype, result);
    if (!span)
        return std::nullopt;
    const double scale = ops::scaleOfRange(result, *fused.range.low, *fused.range.high);
    ops::FusedProduct cut = fused;
    cut.limits = {std::max(span->least / scale, fused.limits.low.value_or(0)),
                  std::min(span->most / scale, fused.limits.high.value_or(HUGE_VAL))};
    return cut;
}

class RuntimeArithmetic final : public kernels::Backend
{
public:
    RuntimeArithmetic(const dialect::Arithmetic &arithmetic, kernels::BackendChain inner)
        : m_arithmetic(arithmetic)
        , m_inner(std::move(inner))
    {
    }

    std::string_view name() const override { return m_inner.front()->name(); }
    kernels::Support support(DType type) const override { return m_inner.front()->support(type); }

    Result<std::unique_ptr<Kernel>> prepare(const Operation &operation) const override
    {
        if (const auto *product = operation.op.getIf<ops::FusedProduct>()) {
            auto cut = cutSum(m_arithmetic, *product, operation);
            if (!cut)
                return leaveIt();
            Operation changed = operation;
            changed.op = std::move(*cut);
            return prepareInner(changed);
        }
        if (!cutsBfloat16(m_arithmetic, operation))
            return leaveIt();
        HALFTONE_TRY(std::unique_ptr<Kernel> wide, prepareInner(widened(operation)));
        return std::unique_ptr<Kernel>(std::make_unique<CuttingKernel>(operation, std::move(wide)));
    }

private:
    static Error leaveIt() { return unsupported({}, "the runtime computes what the operator says"); }

    Result<std::unique_ptr<Kernel>> prepareInner(const Operation &operation) const
    {
        Error refusal = leaveIt();
        for (const auto &backend : m_inner) {
            auto kernel = backend->prepare(operation);
            if (kernel.ok() || kernel.error().code != Errc::Unsupported)
                return kernel;
            refusal = std::move(kernel).error();
        }
        return refusal;
    }

    const dialect::Arithmetic &m_arithmetic;
    kernels::BackendChain m_inner;
};

} // namespace

std::shared_ptr<const kernels::Backend> runtimeArithmetic(const dialect::Arithmetic &arithmetic,
                                                          kernels::BackendChain inner)
{
    return std::make_shared<const RuntimeArithmetic>(arithmetic, std::move(inner));
}

} // namespace halftone::backends
