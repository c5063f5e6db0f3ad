#include "core/backends/onednn/loops/code_kernel.h"

#include "core/backends/onednn/loops/round_even.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace halftone::backends::onednn {
namespace {

template <typename Code>
class CodeKernel final : public kernels::Kernel
{
public:
    CodeKernel(std::size_t count, const ops::CodeScale &scale)
        : m_count(static_cast<std::int64_t>(count))
        , m_step(static_cast<float>(scale.step))
        , m_zero(static_cast<float>(scale.zero))
        , m_least(static_cast<float>(scale.least() - scale.zero))
        , m_most(static_cast<float>(scale.most() - scale.zero))
    {
    }

    std::string name() const override { return "own codes"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        const auto *const from = reinterpret_cast<const float *>(inputs[0]);
        auto *const to = reinterpret_cast<Code *>(outputs[0]);
#pragma omp parallel for simd schedule(static)
        for (std::int64_t k = 0; k < m_count; ++k)
            to[k] = codeOf(from[k]);
        return {};
    }

private:
    Code codeOf(float value) const
    {
        // The ends are whole, so what is cut off first rounds to the same. NaN becomes the least.
        const float quotient = std::min(std::max(m_least, value / m_step), m_most);
        return static_cast<Code>(static_cast<std::int32_t>(roundEven(quotient) + m_zero));
    }

    std::int64_t m_count;
    float m_step;
    float m_zero;
    float m_least;
    float m_most;
};

/// Codes of uint8 whose scale and zero point the values themselves give.
class DynamicCodeKernel final : public kernels::Kernel
{
public:
    explicit DynamicCodeKernel(std::size_t count)
        : m_count(static_cast<std::int64_t>(count))
    {
    }

    std::string name() const override { return "own codes"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        const auto *const from = reinterpret_cast<const float *>(inputs[0]);
        float low = 0;
        float high = 0;
#pragma omp parallel for simd schedule(static) reduction(min : low) reduction(max : high)
        for (std::int64_t k = 0; k < m_count; ++k) {
            low = std::min(low, from[k]);
            high = std::max(high, from[k]);
        }
        const DynamicCode code = dynamicCode(low, high);
        std::memcpy(outputs[1], &code.scale, sizeof code.scale);
        const auto stored = static_cast<std::uint8_t>(code.zero);
        std::memcpy(outputs[2], &stored, sizeof stored);
        return CodeKernel<std::uint8_t>(static_cast<std::size_t>(m_count),
                                        {tensor::DType::U8, double{code.scale}, code.zero})
            .run(inputs, outputs.first(1));
    }

private:
    std::int64_t m_count;
};

} // namespace

DynamicCode dynamicCode(float low, float high)
{
    constexpr float kMost = 255;
    const float scale = (low == high ? 1.0F : high - low) / kMost;
    const float zero = std::min(std::max(0.0F, -low / scale), kMost); // 0 where that is no number
    return {scale, static_cast<std::int32_t>(std::nearbyint(zero))};
}

std::unique_ptr<kernels::Kernel> dynamicCodeKernel(std::size_t count)
{
    return std::make_unique<DynamicCodeKernel>(count);
}

std::unique_ptr<kernels::Kernel> codeKernel(std::size_t count, const ops::CodeScale &scale)
{
    if (scale.type == tensor::DType::I8)
        return std::make_unique<CodeKernel<std::int8_t>>(count, scale);
    return std::make_unique<CodeKernel<std::uint8_t>>(count, scale);
}

} // namespace halftone::backends::onednn
