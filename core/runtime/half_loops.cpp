#include "core/runtime/half_loops.h"

#include "core/tensor/bfloat16.h"
#include "core/tensor/float16.h"

#include <cstdint>
#include <cstring>

namespace halftone::runtime {
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

template <Narrow narrow>
[[gnu::always_inline]] inline void narrowInline(const float *from, std::size_t count, std::byte *to)
{
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint16_t bits = narrow(from[i]);
        std::memcpy(to + i * sizeof bits, &bits, sizeof bits);
    }
}

// Each loop, compiled for the vector units there may be.
template <Widen widen>
void widenPlain(const std::byte *from, std::size_t count, float *to)
{
    widenInline<widen>(from, count, to);
}
template <Narrow narrow>
void narrowPlain(const float *from, std::size_t count, std::byte *to)
{
    narrowInline<narrow>(from, count, to);
}

#ifdef __x86_64__
template <Widen widen>
[[gnu::target("avx2")]] void widenAvx2(const std::byte *from, std::size_t count, float *to)
{
    widenInline<widen>(from, count, to);
}
template <Narrow narrow>
[[gnu::target("avx2")]] void narrowAvx2(const float *from, std::size_t count, std::byte *to)
{
    narrowInline<narrow>(from, count, to);
}

bool hasAvx2()
{
    static const bool has = __builtin_cpu_supports("avx2");
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

template <Narrow narrow>
void narrowFastest(const float *from, std::size_t count, std::byte *to)
{
#ifdef __x86_64__
    if (hasAvx2())
        return narrowAvx2<narrow>(from, count, to);
#endif
    narrowPlain<narrow>(from, count, to);
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
    if (type == DType::F16)
        narrowFastest<tensor::float16FromFloat>(values, count, elements);
    else
        narrowFastest<tensor::bfloat16FromFloat>(values, count, elements);
}

} // namespace halftone::runtime
