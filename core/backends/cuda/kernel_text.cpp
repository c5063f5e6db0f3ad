#include "core/backends/cuda/kernel_text.h"

#include "core/base/fnv1a.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace halftone::backends::cuda {

// half_bits() and friends are the device's own instructions; whoever compiles the kernels for another machine defines
// HALFTONE_HOST and brings them.
constexpr std::string_view kPrelude = R"cuda(
#ifdef HALFTONE_HOST
#define quick_exp2 exp2
#define quick_inverse(x) (1 / (x))
#else
__device__ inline float quick_exp2(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; } // to 2 units
__device__ inline float quick_inverse(float x) { float y; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; } // to 1
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
__device__ inline float half_value(unsigned short b) { float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(b)); return f; }
__device__ inline unsigned short half_bits(float f) { unsigned short b; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(b) : "f"(f)); return b; }
#endif
struct half_t { unsigned short bits; };
struct bhalf_t { unsigned short bits; };
struct bool_t { unsigned char bits; };
struct e4m3_t { unsigned char bits; };
struct e5m2_t { unsigned char bits; };
__device__ inline float bhalf_value(unsigned short b) { return __uint_as_float((unsigned)b << 16); }
__device__ inline unsigned short bhalf_bits(float f)
{
    const unsigned u = __float_as_uint(f);
    if ((u & 0x7fffffffu) > 0x7f800000u)
        return (unsigned short)((u >> 16) | 0x40u);
    return (unsigned short)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}
// Floats of 8 bits, as the Open Compute Project has them; what is too large becomes NaN (e4m3) or infinity.
__device__ inline float e4m3_value(unsigned char b)
{
    if ((b & 0x7f) == 0x7f) return NAN;
    const int exponent = b >> 3 & 15;
    const float size = exponent ? __uint_as_float((unsigned)(exponent + 120) << 23 | (unsigned)(b & 7) << 20) : (b & 7) * 0.001953125f;
    return b & 0x80 ? -size : size;
}
__device__ inline unsigned char e4m3_bits(float f)
{
    const unsigned u = __float_as_uint(f), sign = u >> 24 & 0x80u, size = u & 0x7fffffffu;
    if (size > 0x43e80000u) return (unsigned char)(sign | 0x7fu); // beyond 464
    if (size < 0x3c800000u) return (unsigned char)(sign | (unsigned)rint(fabs(f) * 512));
    return (unsigned char)(sign | (((size + 0x7ffffu + (size >> 20 & 1u)) >> 20) - (120u << 3)));
}
__device__ inline float e5m2_value(unsigned char b) { return half_value((unsigned short)(b << 8)); }
__device__ inline unsigned char e5m2_bits(float f)
{
    const unsigned u = __float_as_uint(f), sign = u >> 24 & 0x80u, size = u & 0x7fffffffu;
    if (size > 0x7f800000u) return (unsigned char)(sign | 0x7fu);
    if (size >= 0x47700000u) return (unsigned char)(sign | 0x7cu); // from 61440 on
    if (size < 0x38800000u) return (unsigned char)(sign | (unsigned)rint(fabs(f) * 65536));
    return (unsigned char)(sign | (((size + 0xfffffu + (size >> 21 & 1u)) >> 21) - (112u << 2)));
}
__device__ inline float num(float x) { return x; }
__device__ inline double num(double x) { return x; }
__device__ inline float num(half_t x) { return half_value(x.bits); }
__device__ inline float num(bhalf_t x) { return bhalf_value(x.bits); }
__device__ inline float num(e4m3_t x) { return e4m3_value(x.bits); }
__device__ inline float num(e5m2_t x) { return e5m2_value(x.bits); }
__device__ inline long long num(bool_t x) { return x.bits != 0; }
template <class T> __device__ inline long long num(T x) { return (long long)x; }
template <class T> struct pack { template <class N> __device__ static T of(N x) { return (T)x; } };
template <> struct pack<half_t> { template <class N> __device__ static half_t of(N x) { return {half_bits((float)x)}; } };
template <> struct pack<bhalf_t> { template <class N> __device__ static bhalf_t of(N x) { return {bhalf_bits((float)x)}; } };
template <> struct pack<e4m3_t> { template <class N> __device__ static e4m3_t of(N x) { return {e4m3_bits((float)x)}; } };
template <> struct pack<e5m2_t> { template <class N> __device__ static e5m2_t of(N x) { return {e5m2_bits((float)x)}; } };
template <> struct pack<bool_t> { template <class N> __device__ static bool_t of(N x) { return {(unsigned char)(x != 0)}; } };
template <class T, class N> __device__ inline auto held(N x) { return num(pack<T>::of(x)); }
template <class T, int V> struct alignas(sizeof(T) * V) vec { T at[V]; };

template <class N> __device__ inline N larger(N a, N b) { return a > b || a != a ? a : b; }
template <class N> __device__ inline N smaller(N a, N b) { return a < b || a != a ? a : b; }
// A whole number within what codes can say; 0 for what is no number.
template <class N> __device__ inline N code_of(N x, N least, N most) { return x != x ? (N)0 : x < least ? least : x > most ? most : x; }
template <class N> __device__ inline N remainder_of(N a, N b)
{
    if (b == 0) return 0;
    const N rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
template <class N> __device__ inline N softplus(N x) { return x > 20 ? x : log1p(exp(x)); }
// x times the normal distribution's integral up to x, for what is rounded to 16 bits: erfc as Press et al. approximate it (Numerical Recipes
// in C, 6.2, to 1.2e-7 of itself) at half the work.
__device__ inline float gelu_of(float x)
{
    const float z = fabs(x) * 0.70710678f, t = quick_inverse(1 + 0.5f * z);
    const float tail = t * quick_exp2(1.44269504f * (-z * z - 1.26551223f + t * (1.00002368f + t * (0.37409196f + t * (0.09678418f + t * (-0.18628806f
        + t * (0.27886807f + t * (-1.13520398f + t * (1.48851587f + t * (-0.82215223f + t * 0.17087277f))))))))));
    return x > 0 ? x * (1 - 0.5f * tail) : 0.5f * x * tail;
}

struct join_sum { template <class N> __device__ static N of(N a, N b) { return a + b; } };
struct join_product { template <class N> __device__ static N of(N a, N b) { return a * b; } };
struct join_max { template <class N> __device__ static N of(N a, N b) { return b > a || b != b ? b : a; } };
struct join_min { template <class N> __device__ static N of(N a, N b) { return b < a || b != b ? b : a; } };
// Of the 32 threads of a warp; every thread gets the result.
template <class J, class N> __device__ inline N over_warp(N x)
{
    for (int distance = 16; distance > 0; distance /= 2)
        x = J::of(x, __shfl_xor_sync(0xffffffffu, x, distance));
    return x;
}
// Of all threads of the block, whose number is a multiple of 32; every thread gets the result.
template <class J, class N> __device__ inline N over_block(N x)
{
    __shared__ N parts[32];
    x = over_warp<J>(x);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = x;
    __syncthreads();
    N all = parts[0];
    for (unsigned warp = 1; warp < blockDim.x / 32; ++warp)
        all = J::of(all, parts[warp]);
    return all;
}
)cuda";

std::string_view prelude()
{
    return kPrelude;
}

KernelText named(std::string text, std::string label)
{
    Fnv1a hash;
    hash.add(text);
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), hash.value(), 16);
    const std::string name = "k_" + std::string(digits.begin(), end.ptr);
    for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at))
        text.replace(at, 1, name);
    return {name, std::move(text), 1, 1, false, std::move(label)};
}

} // namespace halftone::backends::cuda
