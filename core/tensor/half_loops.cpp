#include "core/tensor/half_loops.h"

#include "core/tensor/bfloat16.h"
#include "core/tensor/float16.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace halftone::tensor {
namespace {

using tensor::DType;
using Widen = float (*)(std::uint16_t);
using Narrow = std::uint16_t (*)(float);

template <Widen widen>
[[gnu::always_inline]] inline void widenInline(const std::byte *from, std::size_t count, float *to)
{
    for (std::size_t i = 0; i < count; ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, from + i * sizeof bits, sizeof bits);
        to[i] = widen(bits);
    }
}

/// Counters of one call, kept in 32 bits so that the counting becomes vector code too.
struct Counts
{
    std::uint32_t overflowed = 0;
    std::uint32_t flushed = 0;
    std::uint32_t subnormal = 0;
    std::uint32_t nan = 0;
};

template <class Format, Narrow narrow, bool kCounts>
[[gnu::always_inline]] inline Counts narrowInline(const float *from, std::size_t count, std::byte *to)
{
    Counts counts;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint16_t bits = narrow(from[i]);
        std::memcpy(to + i * sizeof bits, &bits, sizeof bits);
        if constexpr (kCounts) {
            const std::uint32_t size = bits & 0x7FFFU;
            const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(from[i]) & 0x7FFFFFFFU;
            counts.overflowed
                += static_cast<std::uint32_t>((size == Format::kInfinity) & (magnitude < 0x7F800000U));
            counts.flushed += static_cast<std::uint32_t>((size == 0) & (magnitude != 0));
            counts.subnormal += static_cast<std::uint32_t>(size - 1 < Format::kSmallestNormal - 1);
            counts.nan += static_cast<std::uint32_t>(magnitude > 0x7F800000U);
        }
    }
    return counts;
}

// Each loop, compiled for the vector units there may be. (target_clones would do, but its resolvers run before
// ThreadSanitizer is ready.)
template <Widen widen>
void widenPlain(const std::byte *from, std::size_t count, float *to)
{
    widenInline<widen>(from, count, to);
}
template <class Format, Narrow narrow, bool kCounts>
Counts narrowPlain(const float *from, std::size_t count, std::byte *to)
{
    return narrowInline<Format, narrow, kCounts>(from, count, to);
}

#ifdef __x86_64__
template <Widen widen>
[[gnu::target("avx2")]] void widenAvx2(const std::byte *from, std::size_t count, float *to)
{
    widenInline<widen>(from, count, to);
}
template <class Format, Narrow narrow, bool kCounts>
[[gnu::target("avx2")]] Counts narrowAvx2(const float *from, std::size_t count, std::byte *to)
{
    return narrowInline<Format, narrow, kCounts>(from, count, to);
}
template <class Format, Narrow narrow, bool kCounts>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512dq")]] Counts narrowAvx512(const float *from,
                                                                          std::size_t count, std::byte *to)
{
    return narrowInline<Format, narrow, kCounts>(from, count, to);
}

/// Of all lanes.
[[gnu::target("avx2")]] std::uint32_t sumOf(__m256i lanes)
{
    std::array<std::uint32_t, 8> values;
    std::memcpy(values.data(), &lanes, sizeof lanes);
    return std::accumulate(values.begin(), values.end(), 0U);
}

/// The processor's own conversion to float16, which is as float16FromFloat() says, NaN included.
template <bool kCounts>
[[gnu::target("avx2,f16c")]] Counts narrowF16c(const float *from, std::size_t count, std::byte *to)
{
    constexpr std::size_t kLanes = 8;
    const __m256i infinity = _mm256_set1_epi32(0x7F800000);
    const __m256i narrowInfinity = _mm256_set1_epi32(Float16::kInfinity);
    const __m256i smallestNormal = _mm256_set1_epi32(Float16::kSmallestNormal);
    const __m256i zero = _mm256_setzero_si256();
    __m256i overflowed = zero; // lanes of -1 are taken away
    __m256i flushed = zero;
    __m256i subnormal = zero;
    __m256i nan = zero;
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
        const __m256 values = _mm256_loadu_ps(from + i);
        const __m128i halves = _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT);
        std::memcpy(to + i * sizeof(std::uint16_t), &halves, sizeof halves);
        if constexpr (kCounts) {
            const __m256i magnitude
                = _mm256_and_si256(_mm256_castps_si256(values), _mm256_set1_epi32(0x7FFFFFFF));
            const __m256i size = _mm256_and_si256(_mm256_cvtepu16_epi32(halves), _mm256_set1_epi32(0x7FFF));
            overflowed = _mm256_sub_epi32(overflowed,
                                          _mm256_and_si256(_mm256_cmpeq_epi32(size, narrowInfinity),
                                                           _mm256_cmpgt_epi32(infinity, magnitude)));
            flushed = _mm256_sub_epi32(
                flushed,
                _mm256_and_si256(_mm256_cmpeq_epi32(size, zero), _mm256_cmpgt_epi32(magnitude, zero)));
            subnormal = _mm256_sub_epi32(
                subnormal,
                _mm256_and_si256(_mm256_cmpgt_epi32(size, zero), _mm256_cmpgt_epi32(smallestNormal, size)));
            nan = _mm256_sub_epi32(nan, _mm256_cmpgt_epi32(magnitude, infinity));
        }
    }
    Counts counts = narrowInline<Float16, float16FromFloat, kCounts>(from + i, count - i,
                                                                     to + i * sizeof(std::uint16_t));
    if constexpr (kCounts) {
        counts.overflowed += sumOf(overflowed);
        counts.flushed += sumOf(flushed);
        counts.subnormal += sumOf(subnormal);
        counts.nan += sumOf(nan);
    }
    return counts;
}

/// F16C: bit 29 of ECX in leaf 1 of CPUID. Not all compilers have a name for it.
bool hasF16c()
{
    static const bool has = [] {
        unsigned a = 0, b = 0, c = 0, d = 0;
        return __builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c >> 29U & 1U) != 0;
    }();
    return has;
}

bool hasAvx2()
{
    static const bool has = __builtin_cpu_supports("avx2");
    return has;
}

bool hasAvx512()
{
    static const bool has = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512dq");
    return has;
}
#endif

template <Widen widen>
void widenFastest(const std::byte *from, std::size_t count, float *to)
{
#ifdef __x86_64__
    if (hasAvx2())
        return widenAvx2<widen>(from, count, to);
#endif
    widenPlain<widen>(from, count, to);
}

template <class Format, Narrow narrow, bool kCounts>
Counts narrowFastest(const float *from, std::size_t count, std::byte *to)
{
#ifdef __x86_64__
    if (hasAvx512())
        return narrowAvx512<Format, narrow, kCounts>(from, count, to);
    if (hasAvx2())
        return narrowAvx2<Format, narrow, kCounts>(from, count, to);
#endif
    return narrowPlain<Format, narrow, kCounts>(from, count, to);
}

template <bool kCounts>
Counts narrowAs(DType type, const float *from, std::size_t count, std::byte *to)
{
#ifdef __x86_64__
    if (type == DType::F16 && hasF16c())
        return narrowF16c<kCounts>(from, count, to);
#endif
    return type == DType::F16 ? narrowFastest<Float16, float16FromFloat, kCounts>(from, count, to)
                              : narrowFastest<BFloat16, bfloat16FromFloat, kCounts>(from, count, to);
}

} // namespace

void widenHalves(DType type, const std::byte *elements, std::size_t count, float *out)
{
    if (type == DType::F16)
        widenFastest<tensor::floatFromFloat16>(elements, count, out);
    else
        widenFastest<tensor::floatFromBfloat16>(elements, count, out);
}

void narrowToHalves(const float *values, std::size_t count, DType type, std::byte *elements)
{
    narrowAs<false>(type, values, count, elements);
}

void narrowToHalves(const float *values, std::size_t count, DType type, std::byte *elements,
                    CastReport &report)
{
    const Counts counts = narrowAs<true>(type, values, count, elements);
    report.overflowed += counts.overflowed;
    report.flushed += counts.flushed;
    report.subnormal += counts.subnormal;
    report.nan += counts.nan;
}

} // namespace halftone::tensor
