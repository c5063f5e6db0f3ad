#include "core/backends/onednn/element_loops.h"

#include "core/backends/onednn/dnnl_common.h"
#include "core/tensor/elements.h"
#include "core/tensor/half_loops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace halftone::backends::onednn {
namespace {

using tensor::DType;

constexpr std::int64_t kElementsAtOnce = 4096; ///< elements, which stay in the first cache
constexpr std::int64_t kWorthThreads = 4; ///< blocks

std::int64_t elementsOf(const kernels::TensorDesc &desc)
{
    return desc.shape.elementCount().value_or(0);
}

template <std::size_t kInputs, class F>
class ElementLoop final : public kernels::Kernel
{
public:
    ElementLoop(const kernels::TensorDesc &desc, int threads, F function)
        : m_type(desc.dtype)
        , m_count(elementsOf(desc))
        , m_threads(threads)
        , m_function(std::move(function))
    {
    }

    std::string name() const override { return "own loop"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        const ThreadScope scope(m_threads);
        const std::int64_t blocks = (m_count + kElementsAtOnce - 1) / kElementsAtOnce;
#pragma omp parallel for schedule(static) if (blocks >= kWorthThreads)
        for (std::int64_t block = 0; block < blocks; ++block)
            runBlock(inputs, outputs[0], block * kElementsAtOnce,
                     std::min(kElementsAtOnce, m_count - block * kElementsAtOnce));
        return {};
    }

private:
    void runBlock(std::span<const std::byte *const> inputs, std::byte *output, std::int64_t first,
                  std::int64_t size) const
    {
        const auto offset = static_cast<std::size_t>(first) * tensor::sizeOf(m_type);
        const auto count = static_cast<std::size_t>(size);
        std::array<const float *, kInputs> from{};
        if (m_type == DType::F32) {
            for (std::size_t k = 0; k < kInputs; ++k)
                from[k] = reinterpret_cast<const float *>(inputs[k] + offset);
            return loop(from, count, reinterpret_cast<float *>(output + offset));
        }
        alignas(64) std::array<std::array<float, kElementsAtOnce>, kInputs> wide;
        for (std::size_t k = 0; k < kInputs; ++k) {
            tensor::widenHalves(m_type, inputs[k] + offset, count, wide[k].data());
            from[k] = wide[k].data();
        }
        alignas(64) std::array<float, kElementsAtOnce> result;
        loop(from, count, result.data());
        tensor::narrowToHalves(result.data(), count, m_type, output + offset);
    }

    void loop(const std::array<const float *, kInputs> &from, std::size_t count, float *to) const
    {
        const F function = m_function;
        const float *const a = from.front();
        [[maybe_unused]] const float *const b = from.back();
        for (std::size_t i = 0; i < count; ++i) {
            if constexpr (kInputs == 1)
                to[i] = function(a[i]);
            else
                to[i] = function(a[i], b[i]);
        }
    }

    DType m_type;
    std::int64_t m_count;
    int m_threads;
    F m_function;
};

template <class F>
std::unique_ptr<kernels::Kernel> ofOne(const kernels::Operation &operation, int threads, F function)
{
    return std::make_unique<ElementLoop<1, F>>(operation.outputs[0], threads, std::move(function));
}

template <class F>
std::unique_ptr<kernels::Kernel> ofTwo(const kernels::Operation &operation, int threads, F function)
{
    return std::make_unique<ElementLoop<2, F>>(operation.outputs[0], threads, std::move(function));
}

/// The upper limit counts where it is the smaller one.
struct Limits
{
    float low = -std::numeric_limits<float>::infinity();
    float high = std::numeric_limits<float>::infinity();

    float operator()(float x) const
    {
        const float raised = x < low ? low : x;
        return raised > high ? high : raised;
    }
};

/// Limits that are inputs.
class ClipBetweenLoop final : public kernels::Kernel
{
public:
    ClipBetweenLoop(ops::ClipBetween op, const kernels::TensorDesc &desc, int threads)
        : m_op(op)
        , m_desc(desc)
        , m_threads(threads)
    {
    }

    std::string name() const override { return "own loop"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        Limits limits;
        if (m_op.hasLow)
            tensor::widen(m_desc.dtype, inputs[1], 1, &limits.low);
        if (m_op.hasHigh)
            tensor::widen(m_desc.dtype, inputs[m_op.hasLow ? 2 : 1], 1, &limits.high);
        return ElementLoop<1, Limits>(m_desc, m_threads, limits).run(inputs.first(1), outputs);
    }

private:
    ops::ClipBetween m_op;
    kernels::TensorDesc m_desc;
    int m_threads;
};

bool isLarger(float a, float b)
{
    return a > b || std::isnan(a); // a NaN on the left stays
}

bool isSmaller(float a, float b)
{
    return a < b || std::isnan(a);
}

std::unique_ptr<kernels::Kernel> scalarLoop(const kernels::Operation &operation, int threads,
                                            const ops::ScalarBinary &op)
{
    const auto c = static_cast<float>(op.scalar);
    if (op.kind == ops::BinaryKind::Maximum && !op.reversed)
        return ofOne(operation, threads, [c](float x) { return isLarger(x, c) ? x : c; });
    if (op.kind == ops::BinaryKind::Minimum && !op.reversed)
        return ofOne(operation, threads, [c](float x) { return isSmaller(x, c) ? x : c; });
    return nullptr;
}

/// Is any element infinite or NaN? `Bits` hold one, `exponent` is all ones then.
template <class Bits>
bool hasNonFinite(const std::byte *elements, std::int64_t count, Bits exponent)
{
    int found = 0;
    const std::int64_t blocks = (count + kElementsAtOnce - 1) / kElementsAtOnce;
#pragma omp parallel for schedule(static) reduction(| : found) if (blocks >= kWorthThreads)
    for (std::int64_t block = 0; block < blocks; ++block) {
        const std::int64_t size = std::min(kElementsAtOnce, count - block * kElementsAtOnce);
        const std::byte *const at
            = elements + static_cast<std::size_t>(block * kElementsAtOnce) * sizeof(Bits);
        int inBlock = 0;
        for (std::int64_t i = 0; i < size; ++i) {
            Bits bits = 0;
            std::memcpy(&bits, at + static_cast<std::size_t>(i) * sizeof bits, sizeof bits);
            inBlock |= static_cast<int>((bits & exponent) == exponent);
        }
        found |= inBlock;
    }
    return found != 0;
}

bool isFinite(const kernels::TensorDesc &desc, const std::byte *elements)
{
    const std::int64_t count = elementsOf(desc);
    if (desc.dtype == DType::F32)
        return !hasNonFinite<std::uint32_t>(elements, count, 0x7F800000U);
    return !tensor::isHalf(desc.dtype)
        || !hasNonFinite<std::uint16_t>(elements, count, desc.dtype == DType::F16 ? 0x7C00U : 0x7F80U);
}

class FiniteKernel final : public kernels::Kernel
{
public:
    FiniteKernel(std::vector<kernels::TensorDesc> inputs, int threads,
                 std::unique_ptr<kernels::Kernel> kernel, std::unique_ptr<kernels::Kernel> fallback)
        : m_inputs(std::move(inputs))
        , m_threads(threads)
        , m_kernel(std::move(kernel))
        , m_fallback(std::move(fallback))
    {
    }

    std::string name() const override { return m_kernel->name(); }
    void setStop(std::stop_token stop) override { m_fallback->setStop(std::move(stop)); }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        const ThreadScope scope(m_threads);
        for (std::size_t k = 0; k < m_inputs.size(); ++k)
            if (!isFinite(m_inputs[k], inputs[k]))
                return m_fallback->run(inputs, outputs);
        return m_kernel->run(inputs, outputs);
    }

private:
    std::vector<kernels::TensorDesc> m_inputs;
    int m_threads;
    std::unique_ptr<kernels::Kernel> m_kernel;
    std::unique_ptr<kernels::Kernel> m_fallback;
};

/// A softmax along the last axis of which oneDNN makes one element NaN where ONNX has the whole line so: lines with an infinity or a NaN, or of
/// negative infinities alone.
class NaNLines final : public kernels::Kernel
{
public:
    NaNLines(const kernels::TensorDesc &result, int threads, std::unique_ptr<kernels::Kernel> kernel)
        : m_width(result.shape[result.shape.rank() - 1])
        , m_lines(elementsOf(result) / m_width)
        , m_threads(threads)
        , m_kernel(std::move(kernel))
    {
    }

    std::string name() const override { return m_kernel->name(); }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        HALFTONE_CHECK(m_kernel->run(inputs, outputs));
        const ThreadScope scope(m_threads);
        auto *const result = reinterpret_cast<float *>(outputs[0]);
#pragma omp parallel for schedule(static) if (m_lines * m_width >= kWorthThreads * kElementsAtOnce)
        for (std::int64_t line = 0; line < m_lines; ++line) {
            float *const at = result + line * m_width;
            int found = 0;
            for (std::int64_t k = 0; k < m_width; ++k)
                found |= static_cast<int>(at[k] != at[k]);
            if (found != 0)
                std::fill_n(at, m_width, std::numeric_limits<float>::quiet_NaN());
        }
        return {};
    }

private:
    std::int64_t m_width;
    std::int64_t m_lines;
    int m_threads;
    std::unique_ptr<kernels::Kernel> m_kernel;
};

bool isPlain(const ops::Softmax &op, std::size_t rank)
{
    const bool alongLast = op.axis == -1 || static_cast<std::size_t>(op.axis + 1) == rank;
    return alongLast && op.kind != ops::Softmax::Kind::Softmin && !op.temperature && !op.useLength;
}

} // namespace

bool losesNaN(const kernels::Operation &operation)
{
    using ops::BinaryKind;
    const ops::Operator &op = operation.op;
    if (const auto *activation
        = op.getIf<ops::Activation>(); // of float32 it is defined so: see the reference's
        activation && activation->kind == ops::UnaryKind::Relu)
        return operation.inputs[0].dtype == DType::F16;
    if (const auto *leaky = op.getIf<ops::LeakyRelu>())
        return leaky->kind == ops::LeakyRelu::Kind::Gelu;
    if (const auto *softmax = op.getIf<ops::Softmax>()) // likewise, plainly along the last axis
        return tensor::isHalf(operation.inputs[0].dtype)
            || !isPlain(*softmax, operation.inputs[0].shape.rank());
    if (const auto *unary = op.getIf<ops::Unary>())
        return unary->kind == ops::UnaryKind::Relu || unary->kind == ops::UnaryKind::Exp
            || unary->kind == ops::UnaryKind::GeluTanh || unary->kind == ops::UnaryKind::HardSwish
            || unary->kind == ops::UnaryKind::Mish;
    if (const auto *curve = op.getIf<ops::Curve>())
        return curve->kind == ops::Curve::Kind::Swish;
    if (const auto *scalar = op.getIf<ops::ScalarBinary>())
        return scalar->kind == BinaryKind::Maximum || scalar->kind == BinaryKind::Minimum
            || scalar->kind == BinaryKind::Power;
    if (const auto *binary = op.getIf<ops::Binary>())
        return binary->kind == BinaryKind::Maximum || binary->kind == BinaryKind::Minimum;
    if (const auto *pool = op.getIf<ops::Pool>())
        return pool->kind == ops::Pool::Kind::Max;
    return op.is<ops::Clip>() || op.is<ops::ClipBetween>() || op.is<ops::HardSigmoid>()
        || op.is<ops::SoftmaxActivation>();
}

bool spreadsNaN(const kernels::Operation &operation)
{
    const auto *softmax = operation.op.getIf<ops::Softmax>();
    return softmax && softmax->spreadsNaN && operation.inputs[0].shape.rank() > 0
        && isPlain(*softmax, operation.inputs[0].shape.rank()) && operation.inputs[0].dtype == DType::F32
        && operation.outputs[0].dtype == DType::F32;
}

std::unique_ptr<kernels::Kernel> nanLines(const kernels::Operation &operation, int threads,
                                          std::unique_ptr<kernels::Kernel> kernel)
{
    return std::make_unique<NaNLines>(operation.outputs[0], threads, std::move(kernel));
}

std::unique_ptr<kernels::Kernel> elementLoop(const kernels::Operation &operation, int threads)
{
    const kernels::TensorDesc &result = operation.outputs[0];
    const auto *const between = operation.op.getIf<ops::ClipBetween>();
    const bool areAlike = std::ranges::all_of(operation.inputs, [&](const kernels::TensorDesc &desc) {
        const bool isLimit = between && &desc != operation.inputs.data() && elementsOf(desc) == 1;
        return desc.dtype == result.dtype && (isLimit || desc.shape == result.shape);
    });
    if (!areAlike || (result.dtype != DType::F32 && !tensor::isHalf(result.dtype)))
        return nullptr;
    const ops::Operator &op = operation.op;
    if (between)
        return std::make_unique<ClipBetweenLoop>(*between, result, threads);
    const auto *const unary = op.getIf<ops::Unary>();
    if (op.is<ops::Activation>() || (unary && unary->kind == ops::UnaryKind::Relu))
        return ofOne(operation, threads, [](float x) { return x < 0 ? 0.0F : x; });
    if (const auto *clip = op.getIf<ops::Clip>())
        return ofOne(operation, threads,
                     [low = static_cast<float>(clip->low), high = static_cast<float>(clip->high)](float x) {
                         return x > high ? high : x < low ? low : x;
                     });
    if (const auto *hard = op.getIf<ops::HardSigmoid>())
        return ofOne(operation, threads,
                     [a = static_cast<float>(hard->alpha), b = static_cast<float>(hard->beta)](float x) {
                         return std::clamp(a * x + b, 0.0F, 1.0F);
                     });
    if (const auto *scalar = op.getIf<ops::ScalarBinary>())
        return scalarLoop(operation, threads, *scalar);
    const auto *binary = op.getIf<ops::Binary>();
    if (binary && operation.inputs.size() == 2 && binary->kind == ops::BinaryKind::Maximum)
        return ofTwo(operation, threads, [](float a, float b) { return isLarger(a, b) ? a : b; });
    if (binary && operation.inputs.size() == 2 && binary->kind == ops::BinaryKind::Minimum)
        return ofTwo(operation, threads, [](float a, float b) { return isSmaller(a, b) ? a : b; });
    return nullptr;
}

std::unique_ptr<kernels::Kernel> finiteKernel(const kernels::Operation &operation, int threads,
                                              std::unique_ptr<kernels::Kernel> kernel,
                                              std::unique_ptr<kernels::Kernel> fallback)
{
    return std::make_unique<FiniteKernel>(operation.inputs, threads, std::move(kernel), std::move(fallback));
}

} // namespace halftone::backends::onednn
