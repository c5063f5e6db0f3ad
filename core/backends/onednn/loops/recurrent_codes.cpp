#include "core/backends/onednn/loops/recurrent_codes.h"

#include "core/backends/onednn/loops/recurrent_loops.h"
#include "core/backends/onednn/loops/word_products.h"
#include "core/base/vector_loops.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace halftone::backends::onednn {
namespace {

/// As in recurrent_loops.cpp: passed by reference only.
using RealVector __attribute__((vector_size(64))) = float;
using CodeVector __attribute__((vector_size(16))) = std::uint8_t;
using IntVector __attribute__((vector_size(64))) = std::int32_t;

static_assert(sizeof(RealVector) == kRecurrentLanes * sizeof(float));

constexpr std::size_t kCodePanel = 4; ///< vectors
constexpr std::size_t kWordBytes = kRecurrentLanes * kWordCodes; ///< of a vector

/// The values from `i` on, and zeros where they end.
[[gnu::always_inline]] inline void loadValues(const float *values, std::size_t i, std::size_t count,
                                              RealVector &to)
{
    if (i + kRecurrentLanes <= count) {
        __builtin_memcpy(&to, values + i, sizeof to);
        return;
    }
    to = RealVector{};
    for (std::size_t lane = 0; i + lane < count; ++lane)
        to[lane] = values[i + lane];
}

struct WidenRange
{
    [[gnu::always_inline]] static void run(const float *values, std::size_t count, float *low, float *high)
    {
        RealVector least = RealVector{} + *low;
        RealVector most = RealVector{} + *high;
        for (std::size_t i = 0; i < count; i += kRecurrentLanes) {
            RealVector x; // zeros at the end are in the range anyway
            loadValues(values, i, count, x);
            least = x < least ? x : least;
            most = x > most ? x : most;
        }
        for (std::size_t lane = 0; lane < kRecurrentLanes; ++lane) {
            *low = std::min(*low, least[lane]);
            *high = std::max(*high, most[lane]);
        }
    }
};

struct CodeValues
{
    [[gnu::always_inline]] static std::int32_t run(const float *values, std::size_t count,
                                                   const DynamicCode *code, std::uint8_t *to)
    {
        const auto zero = static_cast<float>(code->zero);
        const RealVector low = RealVector{} - zero;
        const RealVector high = RealVector{} + (255.0F - zero);
        constexpr float kWhole = 12582912.0F; // 1.5 · 2^23, as in roundEven()
        constexpr IntVector kLanes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
        IntVector sums{};
        for (std::size_t i = 0; i < count; i += kRecurrentLanes) {
            RealVector x;
            loadValues(values, i, count, x);
            x = x / code->scale;
            x = x > low ? x : low; // what is no number becomes it
            x = x < high ? x : high; // the ends are whole: what is cut off first rounds to the same
            x = x + kWhole - kWhole;
            x = x + zero;
            IntVector codes = __builtin_convertvector(x, IntVector);
            codes = kLanes < static_cast<std::int32_t>(std::min(count - i, kRecurrentLanes)) ? codes
                                                                                             : IntVector{};
            sums += codes;
            const CodeVector bytes = __builtin_convertvector(codes, CodeVector);
            __builtin_memcpy(to + i, &bytes, sizeof bytes);
        }
        std::int32_t sum = 0;
        for (std::size_t lane = 0; lane < kRecurrentLanes; ++lane)
            sum += sums[lane];
        return sum;
    }
};

std::size_t vectorsOfGate(std::size_t size)
{
    return (size + kRecurrentLanes - 1) / kRecurrentLanes;
}

/// Four codes.
[[gnu::always_inline]] inline std::int32_t wordAt(const std::uint8_t *codes)
{
    std::int32_t value = 0;
    __builtin_memcpy(&value, codes, sizeof value);
    return value;
}

/// What the sums of a row's codes need to become the row's values: start[c] + (Σ - zero · sum of the column less its zeros - zero of
/// the column · sum of the row) · scale.
struct Correction
{
    const CodeMatrix &matrix;
    const CodeProducts &products;

    [[gnu::always_inline]] void finish(std::size_t row, std::size_t column, const IntVector &dot) const
    {
        IntVector sums;
        IntVector zeros;
        RealVector scales;
        const std::size_t codes = matrix.columns * wholeWords(matrix.depth);
        __builtin_memcpy(&sums, matrix.packed + codes + column * sizeof(std::int32_t), sizeof sums);
        __builtin_memcpy(&zeros, matrix.zeros + column, sizeof zeros);
        __builtin_memcpy(&scales, matrix.scales + column, sizeof scales);
        const std::int32_t zero = products.code.zero;
        // What rows and columns have beyond the depth is 0, as its products are.
        const std::int32_t ofZeros = products.rowSums[row] - zero * static_cast<std::int32_t>(matrix.depth);
        const RealVector exact = __builtin_convertvector(dot - sums * zero - zeros * ofZeros, RealVector);
        float *const to = products.sums[row] + column;
        RealVector result;
        __builtin_memcpy(&result, products.start == nullptr ? to : products.start + column, sizeof result);
        result += exact * (scales * products.code.scale);
        __builtin_memcpy(to, &result, sizeof result);
    }
};

/// f(row, column, weights, bytes from word to word) for each row and vector of columns.
template <class F>
[[gnu::always_inline]] inline void eachVector(const Correction &by, const F &f)
{
    const std::size_t depth = wholeWords(by.matrix.depth);
    const std::size_t vectors = by.matrix.columns / kRecurrentLanes;
    for (std::size_t vector = 0; vector < vectors; ++vector) {
        const std::size_t panel = vector / kCodePanel * kCodePanel;
        const std::size_t stride = std::min(kCodePanel, vectors - panel) * kWordBytes;
        const std::byte *const weights
            = by.matrix.packed + panel * kRecurrentLanes * depth + (vector - panel) * kWordBytes;
        for (std::size_t row = 0; row < by.products.count; ++row)
            f(row, vector * kRecurrentLanes, weights, stride);
    }
}

#ifdef __x86_64__
#define HALFTONE_CODES [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]]

bool hasCodeProducts()
{
    static const bool has = hasAvx512() && __builtin_cpu_supports("avx512vnni");
    return has;
}

/// kRows of the products with kVectors of the `width` vectors of a panel. Not by the intrinsic, of which GCC 12 copies the sums before
/// and after each product, for which there are no registers.
template <std::size_t kRows, std::size_t kVectors>
HALFTONE_CODES inline void multiplyCodeTile(const Correction &by, std::size_t row, std::size_t column,
                                            const std::byte *weights, std::size_t width)
{
    __m512i sums[kRows][kVectors];
#pragma GCC unroll 6
    for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v)
            sums[r][v] = _mm512_setzero_si512();
    const std::size_t stride = by.products.stride;
    const std::uint8_t *data = by.products.rows + row * stride;
    const std::uint8_t *const end = data + wholeWords(by.matrix.depth);
    for (; data != end; data += kWordCodes) {
        __m512i vectors[kVectors];
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v)
            vectors[v] = _mm512_loadu_si512(weights + v * kWordBytes);
        weights += width * kWordBytes;
#pragma GCC unroll 6
        for (std::size_t r = 0; r < kRows; ++r) {
            const __m512i codes = _mm512_set1_epi32(wordAt(data + r * stride));
#pragma GCC unroll 4
            for (std::size_t v = 0; v < kVectors; ++v) {
                __m512i sum = sums[r][v];
                const __m512i factors = vectors[v];
                asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(codes), "v"(factors));
                sums[r][v] = sum;
            }
        }
    }
#pragma GCC unroll 6
    for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v) {
            IntVector dot;
            __builtin_memcpy(&dot, &sums[r][v], sizeof dot);
            by.finish(row + r, column + v * kRecurrentLanes, dot);
        }
}

/// As many rows at once as there are registers for, all shares of about the same size.
template <std::size_t kVectors>
HALFTONE_CODES inline void multiplyCodePart(const Correction &by, std::size_t column,
                                            const std::byte *weights, std::size_t width)
{
    constexpr std::size_t kMost = 6;
    const std::size_t count = by.products.count;
    for (std::size_t row = 0; row < count;) {
        const std::size_t shares = (count - row + kMost - 1) / kMost;
        const std::size_t rows = (count - row + shares - 1) / shares;
        // clang-format off
        switch (rows) {
        case 1: multiplyCodeTile<1, kVectors>(by, row, column, weights, width); break;
        case 2: multiplyCodeTile<2, kVectors>(by, row, column, weights, width); break;
        case 3: multiplyCodeTile<3, kVectors>(by, row, column, weights, width); break;
        case 4: multiplyCodeTile<4, kVectors>(by, row, column, weights, width); break;
        case 5: multiplyCodeTile<5, kVectors>(by, row, column, weights, width); break;
        default: multiplyCodeTile<6, kVectors>(by, row, column, weights, width); break;
        }
        // clang-format on
        row += rows;
    }
}

HALFTONE_CODES void multiplyCodesWide(const Correction &by)
{
    const std::size_t depth = wholeWords(by.matrix.depth);
    const std::byte *weights = by.matrix.packed;
    for (std::size_t column = 0; column < by.matrix.columns; column += kCodePanel * kRecurrentLanes) {
        const std::size_t width = std::min(kCodePanel, (by.matrix.columns - column) / kRecurrentLanes);
        if (width == kCodePanel)
            multiplyCodePart<kCodePanel>(by, column, weights, width);
        else
            for (std::size_t v = 0; v < width; ++v)
                multiplyCodePart<1>(by, column + v * kRecurrentLanes, weights + v * kWordBytes, width);
        weights += width * depth * kRecurrentLanes;
    }
}

/// Four codes a lane as two pairs of 16 bits, whose products are exact and are added in 32 bits.
[[gnu::target("avx2")]] inline __m256i addPairs(const std::byte *weights, std::int32_t word, __m256i sum)
{
    __m256i codes;
    __builtin_memcpy(&codes, weights, sizeof codes);
    const __m256i even = _mm256_set1_epi32(word & 0x00FF00FF);
    const __m256i odd = _mm256_set1_epi32((word >> 8) & 0x00FF00FF);
    const __m256i first = _mm256_madd_epi16(_mm256_srai_epi16(_mm256_slli_epi16(codes, 8), 8), even);
    const __m256i second = _mm256_madd_epi16(_mm256_srai_epi16(codes, 8), odd);
    return _mm256_add_epi32(sum, _mm256_add_epi32(first, second));
}

[[gnu::target("avx2")]] void multiplyCodesPairs(const Correction &by)
{
    eachVector(
        by,
        [&](std::size_t row, std::size_t column, const std::byte *weights, std::size_t stride)
            __attribute__((target("avx2"))) {
                __m256i sums[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
                const std::size_t words = wholeWords(by.matrix.depth) / kWordCodes;
                for (std::size_t word = 0; word < words; ++word, weights += stride) {
                    const std::int32_t codes
                        = wordAt(by.products.rows + row * by.products.stride + word * kWordCodes);
                    sums[0] = addPairs(weights, codes, sums[0]);
                    sums[1] = addPairs(weights + kWordBytes / 2, codes, sums[1]);
                }
                IntVector dot;
                __builtin_memcpy(&dot, sums, sizeof dot);
                by.finish(row, column, dot);
            });
}
#endif

void multiplyCodesPlain(const Correction &by)
{
    eachVector(by, [&](std::size_t row, std::size_t column, const std::byte *weights, std::size_t stride) {
        IntVector dot{};
        for (std::size_t k = 0; k < by.matrix.depth; ++k) {
            const auto code = static_cast<std::int32_t>(by.products.rows[row * by.products.stride + k]);
            const std::byte *const at = weights + k / kWordCodes * stride + k % kWordCodes;
            for (std::size_t lane = 0; lane < kRecurrentLanes; ++lane)
                dot[lane] += code * static_cast<std::int8_t>(at[lane * kWordCodes]);
        }
        by.finish(row, column, dot);
    });
}

} // namespace

void widenRange(const float *values, std::size_t count, float &low, float &high)
{
    runFastest<WidenRange>(values, count, &low, &high);
}

std::int32_t codeValues(const float *values, std::size_t count, const DynamicCode &code, std::uint8_t *to)
{
    return runFastest<CodeValues>(values, count, &code, to);
}

std::size_t packedCodeBytes(const GateColumns &columns)
{
    const std::size_t all = columns.count * vectorsOfGate(columns.size) * kRecurrentLanes;
    return all * (wholeWords(columns.depth) + sizeof(std::int32_t));
}

void packCodes(const GateColumns &columns, std::byte *to)
{
    const std::size_t each = vectorsOfGate(columns.size);
    const std::size_t vectors = columns.count * each;
    const std::size_t depth = wholeWords(columns.depth);
    std::vector<std::int32_t> sums(vectors * kRecurrentLanes);
    std::fill_n(to, vectors * kRecurrentLanes * depth, std::byte{});
    const int less = columns.areSigned ? 0 : 128;
    for (std::size_t k = 0; k < columns.depth; ++k)
        for (std::size_t gate = 0; gate < columns.count; ++gate) {
            const std::byte *const from
                = columns.codes + k * columns.row + columns.gates[gate] * columns.size;
            for (std::size_t i = 0; i < columns.size; ++i) {
                const std::size_t vector = gate * each + i / kRecurrentLanes;
                const std::size_t panel = vector / kCodePanel * kCodePanel; // its first vector
                const std::size_t width = std::min(kCodePanel, vectors - panel);
                const int stored = columns.areSigned ? static_cast<std::int8_t>(from[i])
                                                     : static_cast<std::uint8_t>(from[i]);
                const int code = stored - less;
                to[panel * kRecurrentLanes * depth + k / kWordCodes * width * kWordBytes
                   + (vector - panel) * kWordBytes + i % kRecurrentLanes * kWordCodes + k % kWordCodes]
                    = static_cast<std::byte>(code & 0xFF);
                sums[vector * kRecurrentLanes + i % kRecurrentLanes] += code;
            }
        }
    std::memcpy(to + vectors * kRecurrentLanes * depth, sums.data(), sums.size() * sizeof(std::int32_t));
}

void multiplyCodes(const CodeMatrix &matrix, const CodeProducts &products, CodeUnit fastest)
{
    const Correction by{matrix, products};
#ifdef __x86_64__
    if (fastest == CodeUnit::Words && hasCodeProducts())
        return multiplyCodesWide(by);
    if (fastest != CodeUnit::Plain && __builtin_cpu_supports("avx2"))
        return multiplyCodesPairs(by);
#else
    (void)fastest;
#endif
    multiplyCodesPlain(by);
}

} // namespace halftone::backends::onednn
