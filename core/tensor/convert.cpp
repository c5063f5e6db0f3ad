#include "core/tensor/convert.h"

#include "core/tensor/bfloat16.h"
#include "core/tensor/float16.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstring>
#include <memory>
#include <new>

namespace halftone::tensor {
namespace {

/// Elements taken at a time: both sides of a block stay in the first-level cache, and mapped bytes get
/// aligned on the way.
constexpr std::size_t kBlock = 1024;

template <class T>
using Block = std::array<T, kBlock>;

struct Float32Format
{
    static constexpr std::uint32_t kInfinity = 0x7F800000U;
    static constexpr std::uint32_t kSmallestNormal = 0x00800000U;
};

/// Counters of one block, kept in 32 bits so that the counting becomes vector code too.
struct BlockReport
{
    std::uint32_t overflowed = 0;
    std::uint32_t flushed = 0;
    std::uint32_t subnormal = 0;
    std::uint32_t nan = 0;
};

template <class Format>
[[gnu::always_inline]] inline void count(BlockReport &report, std::uint32_t narrow, bool isZero,
                                         bool isFinite, bool isNan)
{
    report.overflowed += static_cast<std::uint32_t>((narrow == Format::kInfinity) & isFinite);
    report.flushed += static_cast<std::uint32_t>((narrow == 0) & !isZero);
    report.subnormal += static_cast<std::uint32_t>(narrow - 1 < Format::kSmallestNormal - 1);
    report.nan += static_cast<std::uint32_t>(isNan);
}

template <class Format, std::uint16_t (*narrow)(float)>
[[gnu::always_inline]] inline BlockReport narrowFloatsInline(const float *from, std::uint16_t *to,
                                                             std::size_t size)
{
    BlockReport report;
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint16_t bits = narrow(from[i]);
        const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(from[i]) & 0x7FFFFFFFU;
        to[i] = bits;
        count<Format>(report, bits & 0x7FFFU, magnitude == 0, magnitude<0x7F800000U, magnitude> 0x7F800000U);
    }
    return report;
}

// One loop, compiled for the vector units there may be. (target_clones would do, but its resolvers run before
// ThreadSanitizer is ready.)
template <class Format, std::uint16_t (*narrow)(float)>
BlockReport narrowFloatsPlain(const float *from, std::uint16_t *to, std::size_t size)
{
    return narrowFloatsInline<Format, narrow>(from, to, size);
}

#ifdef __x86_64__
template <class Format, std::uint16_t (*narrow)(float)>
[[gnu::target("avx2")]] BlockReport narrowFloatsAvx2(const float *from, std::uint16_t *to, std::size_t size)
{
    return narrowFloatsInline<Format, narrow>(from, to, size);
}

template <class Format, std::uint16_t (*narrow)(float)>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512dq")]] BlockReport
narrowFloatsAvx512(const float *from, std::uint16_t *to, std::size_t size)
{
    return narrowFloatsInline<Format, narrow>(from, to, size);
}
#endif

using NarrowFloats = BlockReport (*)(const float *, std::uint16_t *, std::size_t);

/// The fastest of them that this machine can run.
template <class Format, std::uint16_t (*narrow)(float)>
NarrowFloats narrowFloats()
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512dq"))
        return narrowFloatsAvx512<Format, narrow>;
    if (__builtin_cpu_supports("avx2"))
        return narrowFloatsAvx2<Format, narrow>;
#endif
    return narrowFloatsPlain<Format, narrow>;
}

template <float (*widen)(std::uint16_t)>
void widenToFloats(const std::uint16_t *from, float *to, std::size_t size)
{
    for (std::size_t i = 0; i < size; ++i)
        to[i] = widen(from[i]);
}

template <class Format>
BlockReport narrowDoubles(const double *from, std::uint16_t *to, std::size_t size)
{
    BlockReport report;
    for (std::size_t i = 0; i < size; ++i) {
        to[i] = narrowDouble<Format>(from[i]);
        count<Format>(report, to[i] & 0x7FFFU, from[i] == 0, std::isfinite(from[i]), std::isnan(from[i]));
    }
    return report;
}

BlockReport narrowDoublesToFloats(const double *from, float *to, std::size_t size)
{
    BlockReport report;
    for (std::size_t i = 0; i < size; ++i) {
        to[i] = static_cast<float>(from[i]);
        const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(to[i]) & 0x7FFFFFFFU;
        count<Float32Format>(report, magnitude, from[i] == 0, std::isfinite(from[i]), std::isnan(from[i]));
    }
    return report;
}

/// Counts for a block whose values came through a cast that loses nothing.
template <class T>
BlockReport copyBlock(const T *from, T *to, std::size_t size)
{
    std::copy(from, from + size, to);
    return {};
}

template <class Wide, class Stored>
void widenBlock(const Stored *from, Wide *to, std::size_t size)
{
    std::transform(from, from + size, to, [](Stored value) { return static_cast<Wide>(value); });
}

/// Bytes of the result, not zeroed first: every one is written. Large results ask for huge pages, since
/// faulting in small ones would cost as much as the conversion.
std::shared_ptr<std::byte> newBytes(std::size_t size)
{
    constexpr std::size_t kHugePage = std::size_t{1} << 21;
    const bool isLarge = size >= 2 * kHugePage;
    const std::align_val_t alignment{isLarge ? kHugePage : 64};
    auto *const bytes = static_cast<std::byte *>(::operator new(size, alignment));
    if (isLarge)
        ::madvise(bytes, size, MADV_HUGEPAGE);
    return {bytes, [alignment](std::byte *start) { ::operator delete(start, alignment); }};
}

/// Runs source blocks through `load` (stored elements to Wide) and `store` (Wide to target elements).
template <class Stored, class Wide, class Target, class Load, class Store>
Tensor throughBlocks(const Tensor &source, DType to, CastReport &report, Load load, Store store)
{
    const std::size_t count = source.elementCount();
    const auto result = newBytes(count * sizeof(Target));
    alignas(64) Block<Stored> stored;
    alignas(64) Block<Wide> wide;
    alignas(64) Block<Target> target;
    for (std::size_t first = 0; first < count; first += kBlock) {
        const std::size_t size = std::min(kBlock, count - first);
        std::memcpy(stored.data(), source.bytes().data() + first * sizeof(Stored), size * sizeof(Stored));
        load(stored.data(), wide.data(), size);
        const BlockReport block = store(wide.data(), target.data(), size);
        report += {block.overflowed, block.flushed, block.subnormal, block.nan};
        std::memcpy(result.get() + first * sizeof(Target), target.data(), size * sizeof(Target));
    }
    return {to, source.shape(), std::span<const std::byte>(result.get(), count * sizeof(Target)), result};
}

template <class Stored, class Load>
Tensor fromFloats(const Tensor &source, DType to, CastReport &report, Load load)
{
    switch (to) {
    case DType::F16:
        return throughBlocks<Stored, float, std::uint16_t>(source, to, report, load,
                                                           narrowFloats<Float16, float16FromFloat>());
    case DType::BF16:
        return throughBlocks<Stored, float, std::uint16_t>(source, to, report, load,
                                                           narrowFloats<BFloat16, bfloat16FromFloat>());
    case DType::F32:
        return throughBlocks<Stored, float, float>(source, to, report, load, copyBlock<float>);
    default:
        return throughBlocks<Stored, float, double>(source, to, report, load,
                                                    [](const float *from, double *target, std::size_t size) {
                                                        widenBlock(from, target, size);
                                                        return BlockReport();
                                                    });
    }
}

template <class Stored>
Tensor fromDoubles(const Tensor &source, DType to, CastReport &report)
{
    const auto load = widenBlock<double, Stored>;
    switch (to) {
    case DType::F16:
        return throughBlocks<Stored, double, std::uint16_t>(source, to, report, load, narrowDoubles<Float16>);
    case DType::BF16:
        return throughBlocks<Stored, double, std::uint16_t>(source, to, report, load,
                                                            narrowDoubles<BFloat16>);
    case DType::F32:
        return throughBlocks<Stored, double, float>(source, to, report, load, narrowDoublesToFloats);
    default:
        return throughBlocks<Stored, double, double>(source, to, report, load, copyBlock<double>);
    }
}

Tensor cast(const Tensor &source, DType to, CastReport &report)
{
    switch (source.dtype()) {
    case DType::F32:
        return fromFloats<float>(source, to, report, widenBlock<float, float>);
    case DType::F16:
        return fromFloats<std::uint16_t>(source, to, report, widenToFloats<floatFromFloat16>);
    case DType::BF16:
        return fromFloats<std::uint16_t>(source, to, report, widenToFloats<floatFromBfloat16>);
    case DType::I8:
        return fromDoubles<std::int8_t>(source, to, report);
    case DType::U8:
        return fromDoubles<std::uint8_t>(source, to, report);
    case DType::Bool:
        return fromFloats<std::uint8_t>(
            source, to, report, [](const std::uint8_t *from, float *wide, std::size_t size) {
                std::transform(from, from + size, wide,
                               [](std::uint8_t value) { return value == 0 ? 0.0F : 1.0F; });
            });
    case DType::I16:
        return fromDoubles<std::int16_t>(source, to, report);
    case DType::U16:
        return fromDoubles<std::uint16_t>(source, to, report);
    case DType::I32:
        return fromDoubles<std::int32_t>(source, to, report);
    case DType::U32:
        return fromDoubles<std::uint32_t>(source, to, report);
    case DType::I64:
        return fromDoubles<std::int64_t>(source, to, report);
    case DType::U64:
        return fromDoubles<std::uint64_t>(source, to, report);
    default:
        return fromDoubles<double>(source, to, report);
    }
}

} // namespace

CastReport &CastReport::operator+=(const CastReport &other)
{
    overflowed += other.overflowed;
    flushed += other.flushed;
    subnormal += other.subnormal;
    nan += other.nan;
    return *this;
}

Result<Tensor> castTo(const Tensor &source, DType to, CastReport *report)
{
    CastReport counted;
    Result<Tensor> result = source;
    if (source.dtype() != to) {
        if (!isFloat(to) || source.dtype() == DType::Unknown) {
            return unsupported(
                {}, "a cast from " + std::string(nameOf(source.dtype())) + " to " + std::string(nameOf(to)),
                "a cast to a float type");
        }
        result = cast(source, to, counted);
    }
    if (report != nullptr)
        *report = counted;
    return result;
}

} // namespace halftone::tensor
