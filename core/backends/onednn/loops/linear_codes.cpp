#include "core/backends/onednn/loops/linear_codes.h"

#include "core/backends/onednn/dnnl_common.h"
#include "core/backends/onednn/loops/round_even.h"
#include "core/backends/onednn/loops/word_products.h"
#include "core/ops/shape_slots.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace halftone::backends::onednn {
namespace {

using tensor::DType;

constexpr std::size_t kPiece = 4096; ///< elements, which stay in the nearest cache
constexpr std::size_t kWorthThreads = 4; ///< pieces

/// Of elements side by side: one for all of them, or one each.
struct Scales
{
    const float *scales;
    const float *zeros;
    bool isOne;
};

template <class Code>
struct Encode
{
    using From = float;
    using To = Code;

    [[gnu::always_inline]] static Code of(float value, float scale, float zero)
    {
        using Limits = std::numeric_limits<Code>;
        const float least = static_cast<float>(Limits::min()) - zero;
        const float most = static_cast<float>(Limits::max()) - zero;
        const float scaled = value / scale;
        const float inside
            = std::min(std::max(least, scaled), most); // the bound first: what is no number becomes it
        const auto code = static_cast<std::int32_t>(roundEven(inside) + zero);
        const bool isNaN = (std::bit_cast<std::uint32_t>(scaled) & 0x7FFFFFFFU)
            > 0x7F800000U; // in bits, which vectors compare at once
        return static_cast<Code>(isNaN ? 0 : code);
    }
};

template <class Code>
struct Decode
{
    using From = Code;
    using To = float;

    [[gnu::always_inline]] static float of(Code code, float scale, float zero)
    {
        return (static_cast<float>(code) - zero) * scale;
    }
};

template <class F>
[[gnu::always_inline]] inline void loopInline(const typename F::From *from, std::size_t count,
                                              const Scales &by, typename F::To *to)
{
    if (by.isOne) {
        const float scale = by.scales[0];
        const float zero = by.zeros[0];
        for (std::size_t i = 0; i < count; ++i)
            to[i] = F::of(from[i], scale, zero);
        return;
    }
    for (std::size_t i = 0; i < count; ++i)
        to[i] = F::of(from[i], by.scales[i], by.zeros[i]);
}

template <class F>
void loopPlain(const typename F::From *from, std::size_t count, const Scales &by, typename F::To *to)
{
    loopInline<F>(from, count, by, to);
}

#ifdef __x86_64__
template <class F>
[[gnu::target("avx2")]] void loopAvx2(const typename F::From *from, std::size_t count, const Scales &by,
                                      typename F::To *to)
{
    loopInline<F>(from, count, by, to);
}

template <class F>
HALFTONE_WIDE void loopWide(const typename F::From *from, std::size_t count, const Scales &by,
                            typename F::To *to)
{
    loopInline<F>(from, count, by, to);
}
#endif

template <class F>
auto fastestLoop()
{
#ifdef __x86_64__
    if (hasWideVectors())
        return &loopWide<F>;
    if (__builtin_cpu_supports("avx2"))
        return &loopAvx2<F>;
#endif
    return &loopPlain<F>;
}

/// Where elements with one scale lie side by side: runs of `inner`, and behind `length` of them the first scale comes again.
/// In blocks: lines of `length` runs of `inner`, and each `block` runs of a line have `inner` scales of their own.
struct Runs
{
    std::size_t count = 0; ///< of all elements
    std::size_t length = 1;
    std::size_t inner = 0;
    std::size_t block = 0; ///< 0: none
    std::size_t scales = 1; ///< of all elements

    std::size_t blocks() const { return (length + block - 1) / block; } ///< of a line
};

std::optional<Runs> blocksOf(const kernels::Operation &operation, std::int64_t namedAxis, std::int64_t block)
{
    const auto dims = operation.inputs[0].shape.dims();
    const auto scales = operation.inputs[1].shape.dims();
    const auto axis = ops::resolveAxis(namedAxis, dims.size());
    if (!axis.ok() || block < 1 || scales.size() != dims.size())
        return std::nullopt; // the reference says what is wrong
    Runs runs{.count = 1, .inner = 1, .block = static_cast<std::size_t>(block)};
    for (std::size_t k = 0; k < dims.size(); ++k) {
        const auto extent = static_cast<std::size_t>(dims[k]);
        runs.count *= extent;
        runs.inner *= k > axis.value() ? extent : 1;
        runs.scales *= static_cast<std::size_t>(scales[k]);
        if (k == axis.value())
            runs.length = extent;
        if (scales[k] != (k == axis.value() ? static_cast<std::int64_t>(runs.blocks()) : dims[k]))
            return std::nullopt;
    }
    return runs;
}

std::optional<Runs> runsOf(const kernels::Operation &operation, std::int64_t namedAxis, std::int64_t block)
{
    const auto dims = operation.inputs[0].shape.dims();
    const auto scales = operation.inputs[1].shape.elementCount();
    const auto count = operation.inputs[0].shape.elementCount();
    if (!scales || !count)
        return std::nullopt;
    Runs runs{static_cast<std::size_t>(*count), static_cast<std::size_t>(*scales),
              static_cast<std::size_t>(*count)};
    if (runs.length == 1)
        return runs;
    if (block != 0)
        return blocksOf(operation, namedAxis, block);
    runs.scales = runs.length;
    const auto axis = ops::resolveAxis(namedAxis, dims.size());
    if (operation.inputs[1].shape.rank() != 1 || !axis.ok() || dims[axis.value()] != *scales)
        return std::nullopt; // the reference says what is wrong
    const auto first = dims.begin() + static_cast<std::ptrdiff_t>(axis.value()) + 1;
    runs.inner
        = static_cast<std::size_t>(std::accumulate(first, dims.end(), std::int64_t{1}, std::multiplies<>()));
    return runs;
}

/// Values to codes, or back, of the types at hand. `Code`: what codes are stored as.
template <class Code, bool kEncodes>
class LinearCodeLoop final : public kernels::Kernel
{
public:
    LinearCodeLoop(const kernels::Operation &operation, Runs runs, bool hasZeroPoint, int threads)
        : m_scale(operation.inputs[1].dtype)
        , m_zero(operation.outputs[0].dtype)
        , m_real(operation.inputs[0].dtype)
        , m_runs(runs)
        , m_zeros(hasZeroPoint
                      ? static_cast<std::size_t>(operation.inputs[2].shape.elementCount().value_or(0))
                      : 0)
        , m_threads(threads)
    {
        if constexpr (!kEncodes)
            std::swap(m_zero, m_real);
    }

    std::string name() const override { return "own loop"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        if (m_runs.count == 0)
            return {};
        const std::vector<float> scales = widened(m_scale, inputs[1], m_runs.scales);
        std::vector<float> zeros(m_runs.scales, 0.0F);
        if (m_zeros > 0)
            zeros = widened(m_zero, inputs[2], m_zeros);
        zeros.resize(m_runs.scales, zeros.empty() ? 0.0F : zeros.front());
        const ThreadScope scope(m_threads);
        if (m_runs.block > 0)
            runBlocks(inputs[0], outputs[0], scales, zeros);
        else if (m_runs.inner == 1)
            runAcross(inputs[0], outputs[0], scales, zeros);
        else
            runAlong(inputs[0], outputs[0], scales, zeros);
        return {};
    }

private:
    static std::vector<float> widened(DType type, const std::byte *elements, std::size_t count)
    {
        std::vector<float> values(count);
        tensor::widen(type, elements, count, values.data());
        return values;
    }

    /// The axis is the last one: neighbours have scales of their own.
    void runAcross(const std::byte *from, std::byte *to, const std::vector<float> &scales,
                   const std::vector<float> &zeros) const
    {
        const std::size_t rows = m_runs.count / m_runs.length;
#pragma omp parallel for schedule(static) if (m_runs.count >= kPiece * kWorthThreads)
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t first = 0; first < m_runs.length; first += kPiece)
                runPiece(from, to, row * m_runs.length + first, std::min(kPiece, m_runs.length - first),
                         {scales.data() + first, zeros.data() + first, false});
    }

    void runAlong(const std::byte *from, std::byte *to, const std::vector<float> &scales,
                  const std::vector<float> &zeros) const
    {
        const std::size_t ofRun = (m_runs.inner + kPiece - 1) / kPiece;
        const std::size_t pieces = m_runs.inner == 0 ? 0 : m_runs.count / m_runs.inner * ofRun;
#pragma omp parallel for schedule(static) if (m_runs.count >= kPiece * kWorthThreads)
        for (std::size_t piece = 0; piece < pieces; ++piece) {
            const std::size_t run = piece / ofRun;
            const std::size_t first = piece % ofRun * kPiece;
            const std::size_t place = run % m_runs.length;
            runPiece(from, to, run * m_runs.inner + first, std::min(kPiece, m_runs.inner - first),
                     {scales.data() + place, zeros.data() + place, true});
        }
    }

    /// Runs that are single elements lie side by side with one scale, longer ones have as many scales as elements.
    void runBlocks(const std::byte *from, std::byte *to, const std::vector<float> &scales,
                   const std::vector<float> &zeros) const
    {
        const std::size_t blocks = m_runs.blocks();
        const bool isOne = m_runs.inner == 1;
        const std::size_t parts = m_runs.count == 0 ? 0 : scales.size() / m_runs.inner;
#pragma omp parallel for schedule(static) if (m_runs.count >= kPiece * kWorthThreads)
        for (std::size_t part = 0; part < parts; ++part) {
            const std::size_t begin = part % blocks * m_runs.block;
            const std::size_t runs = std::min(m_runs.block, m_runs.length - begin);
            const std::size_t at = (part / blocks * m_runs.length + begin) * m_runs.inner;
            const std::size_t first = part * m_runs.inner; ///< of the scales
            const std::size_t step = isOne ? runs : m_runs.inner;
            for (std::size_t run = 0; run < runs * m_runs.inner; run += step)
                for (std::size_t k = 0; k < step; k += kPiece) {
                    const std::size_t own = first + (isOne ? 0 : k);
                    runPiece(from, to, at + run + k, std::min(kPiece, step - k),
                             {scales.data() + own, zeros.data() + own, isOne});
                }
        }
    }

    void runPiece(const std::byte *from, std::byte *to, std::size_t first, std::size_t count,
                  const Scales &by) const
    {
        const std::size_t atReal = first * tensor::sizeOf(m_real);
        const std::size_t atCode = first * sizeof(Code);
        alignas(64) std::array<float, kPiece> wide;
        if constexpr (kEncodes) {
            const auto *values = reinterpret_cast<const float *>(from + atReal);
            if (m_real != DType::F32) {
                tensor::widen(m_real, from + atReal, count, wide.data());
                values = wide.data();
            }
            m_loop(values, count, by, reinterpret_cast<Code *>(to + atCode));
        } else {
            const auto *codes = reinterpret_cast<const Code *>(from + atCode);
            if (m_real == DType::F32)
                return m_loop(codes, count, by, reinterpret_cast<float *>(to + atReal));
            m_loop(codes, count, by, wide.data());
            tensor::narrow(wide.data(), count, m_real, to + atReal);
        }
    }

    DType m_scale;
    DType m_zero; ///< that of codes
    DType m_real;
    Runs m_runs;
    std::size_t m_zeros; ///< 0: none
    int m_threads;
    using Function = std::conditional_t<kEncodes, Encode<Code>, Decode<Code>>;
    decltype(fastestLoop<Function>()) m_loop = fastestLoop<Function>();
};

bool isReal(DType type)
{
    return type == DType::F32 || type == DType::F16 || type == DType::BF16;
}

} // namespace

std::unique_ptr<kernels::Kernel> linearCodeLoop(const kernels::Operation &operation, int threads)
{
    const auto *const encode = operation.op.getIf<ops::QuantizeLinear>();
    const auto *const decode = operation.op.getIf<ops::DequantizeLinear>();
    if (!encode && !decode)
        return nullptr;
    const DType real = (encode ? operation.inputs : operation.outputs)[0].dtype;
    const DType codes = (encode ? operation.outputs : operation.inputs)[0].dtype;
    const auto runs = encode ? runsOf(operation, encode->axis, encode->block)
                             : runsOf(operation, decode->axis, decode->block);
    if (!runs || !isReal(real) || !isReal(operation.inputs[1].dtype))
        return nullptr;
    const bool hasZeroPoint = encode ? encode->hasZeroPoint : decode->hasZeroPoint;
    if (hasZeroPoint && operation.inputs[2].shape.elementCount() != 1
        && operation.inputs[2].shape.elementCount() != operation.inputs[1].shape.elementCount())
        return nullptr;
    const auto made = [&]<class Code, bool kEncodes>() -> std::unique_ptr<kernels::Kernel> {
        return std::make_unique<LinearCodeLoop<Code, kEncodes>>(operation, *runs, hasZeroPoint, threads);
    };
    if (decode && (codes == DType::I4 || codes == DType::I2)) // which lie in memory as int8 does
        return made.operator()<std::int8_t, false>();
    if (decode && (codes == DType::U4 || codes == DType::U2))
        return made.operator()<std::uint8_t, false>();
    if (codes == DType::I8)
        return encode ? made.operator()<std::int8_t, true>() : made.operator()<std::int8_t, false>();
    if (codes == DType::U8)
        return encode ? made.operator()<std::uint8_t, true>() : made.operator()<std::uint8_t, false>();
    return decode && codes == DType::I32 ? made.operator()<std::int32_t, false>() : nullptr;
}

} // namespace halftone::backends::onednn
