#pragma once

#include <cstddef>
#include <cstdint>

namespace halftone::backends::onednn {

/// Has this processor the AVX-512 that the vector kernels here are compiled for, bfloat16 and sums of codes included?
bool hasWideVectors();

} // namespace halftone::backends::onednn

#ifdef __x86_64__

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" // of what these headers leave undefined on purpose
#include <immintrin.h>
#pragma GCC diagnostic pop

/// What the vector kernels of this folder share: sums of products for some pixels and some output channels at once, whose sums stay
/// in registers. Compiled for AVX-512, whatever the rest is compiled for: callers ask hasWideVectors() first.
#define HALFTONE_WIDE [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512bf16")]]

namespace halftone::backends::onednn::wide {

inline constexpr std::size_t kLanes = 16; ///< words in a vector

/// What the 32 bits are of which products are made.
enum class Word : std::uint8_t
{
    F32, ///< one float32
    Bf16, ///< two bfloat16, summed in float32
    Codes ///< four codes, unsigned of the data and signed of the weights, summed in int32
};

template <Word kWord>
HALFTONE_WIDE inline __m512i multiplyAdd(__m512i sum, __m512i weights, __m512i data)
{
    if constexpr (kWord == Word::F32)
        return _mm512_castps_si512(_mm512_fmadd_ps(_mm512_castsi512_ps(weights), _mm512_castsi512_ps(data),
                                                   _mm512_castsi512_ps(sum)));
    else if constexpr (kWord == Word::Bf16)
        return _mm512_castps_si512(_mm512_dpbf16_ps(
            _mm512_castsi512_ps(sum), reinterpret_cast<__m512bh>(weights), reinterpret_cast<__m512bh>(data)));
    else
        return _mm512_dpbusd_epi32(sum, data, weights);
}

/// Where the words of a window lie: `offsets` from a pixel's address, `words` of each.
struct Taps
{
    const std::int32_t *offsets = nullptr; ///< in bytes
    std::int32_t count = 0;
    std::int32_t words = 0;
};

/// sums[p][b] = Σ over taps and words of data(pixel p) · weights, for kVectors vectors of output channels.
/// weights  by tap, word, output channel; at a multiple of 64 bytes
template <Word kWord, int kVectors, int kPixels>
HALFTONE_WIDE inline void sumProducts(const std::byte *const *pixels, const Taps &taps,
                                      const std::byte *weights, __m512i (&sums)[kPixels][kVectors])
{
    __m512i acc[kPixels][kVectors];
    const std::byte *at[kPixels];
#pragma GCC unroll 16
    for (int p = 0; p < kPixels; ++p) {
        at[p] = pixels[p];
#pragma GCC unroll 4
        for (int b = 0; b < kVectors; ++b)
            acc[p][b] = _mm512_setzero_si512();
    }
    for (std::int32_t t = 0; t < taps.count; ++t) {
        const std::ptrdiff_t offset = taps.offsets[t];
        for (std::int32_t word = 0; word < taps.words; ++word) {
            __m512i row[kVectors];
#pragma GCC unroll 4
            for (int b = 0; b < kVectors; ++b)
                row[b] = _mm512_load_si512(weights + 64 * b);
#pragma GCC unroll 16
            for (int p = 0; p < kPixels; ++p) {
                std::int32_t value = 0;
                __builtin_memcpy(&value, at[p] + offset + 4 * word, sizeof value);
                __m512i data = _mm512_set1_epi32(value);
                // Else it would be loaded again for each product.
                asm("" : "+v"(data));
#pragma GCC unroll 4
                for (int b = 0; b < kVectors; ++b)
                    acc[p][b] = multiplyAdd<kWord>(acc[p][b], row[b], data);
            }
            weights += 64 * kVectors;
        }
    }
#pragma GCC unroll 16
    for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 4
        for (int b = 0; b < kVectors; ++b)
            sums[p][b] = acc[p][b];
}

} // namespace halftone::backends::onednn::wide

#endif
