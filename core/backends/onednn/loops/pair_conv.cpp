#include "core/backends/onednn/loops/pair_conv.h"

#include "core/backends/onednn/dnnl_common.h"
#include "core/backends/onednn/loops/word_products.h"
#include "core/backends/onednn/scratch.h"
#include "core/base/memory.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

namespace halftone::backends::onednn {

bool hasPairProducts()
{
#ifdef __x86_64__
    static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return has;
#else
    return false;
#endif
}

bool fitsPairSums(const CodeConv &conv)
{
    constexpr std::int64_t kLargestProduct = std::int64_t{255} * 128;
    return conv.kernel[0] * conv.kernel[1] * conv.channels
        <= std::numeric_limits<std::int32_t>::max() / kLargestProduct;
}

namespace {

constexpr std::int64_t kPairBytes = 4; ///< two codes in 16 bits each
constexpr std::int64_t kPairGroup = 16; ///< output channels that are computed together, in two vectors
constexpr int kMostPixels = 6; ///< whose sums of a group fit into 16 registers, with what they are made of

/// Pairs of codes of a row of a window, whose pixels lie one after the other.
std::int64_t pairsOf(const CodeConv &conv)
{
    return (conv.kernel[1] * conv.channels + 1) / 2;
}

std::int64_t groupsOf(const CodeConv &conv)
{
    return (conv.outputs + kPairGroup - 1) / kPairGroup;
}

/// Of a group's weights.
std::int64_t groupBytes(const CodeConv &conv)
{
    return conv.kernel[0] * pairsOf(conv) * kPairGroup * kPairBytes;
}

} // namespace

std::size_t pairBytes(const CodeConv &conv)
{
    return static_cast<std::size_t>(conv.pictures * conv.reach(0) * conv.reach(1) * conv.channels * 2
                                    + kPairBytes); // the last window may read half a pair more
}

Result<std::shared_ptr<const Packed>> packPairWeights(const CodeConv &conv,
                                                      std::span<const std::int8_t> weights)
{
    auto packed = std::make_shared<Packed>();
    packed->bytes = static_cast<std::size_t>(groupsOf(conv) * groupBytes(conv));
    packed->memory = allocateTogether(packed->bytes);
    if (!packed->memory)
        return outOfMemory(packed->bytes, "weights");
    std::memset(packed->memory.get(), 0, packed->bytes);
    auto *const to = reinterpret_cast<std::int16_t *>(packed->memory.get());
    const auto *from = weights.data();
    for (std::int64_t k = 0; k < conv.outputs; ++k) {
        auto *const group = to + k / kPairGroup * groupBytes(conv) / 2 + k % kPairGroup * 2;
        for (std::int64_t c = 0; c < conv.channels; ++c)
            for (std::int64_t y = 0; y < conv.kernel[0]; ++y)
                for (std::int64_t x = 0; x < conv.kernel[1]; ++x) {
                    const std::int64_t at = x * conv.channels + c;
                    const std::int8_t weight = *from++;
                    group[(y * pairsOf(conv) + at / 2) * kPairGroup * 2 + at % 2]
                        = static_cast<std::int16_t>(weight); // NOLINT(bugprone-signed-char-misuse)
                }
    }
    return std::shared_ptr<const Packed>(std::move(packed));
}

#ifdef __x86_64__

/// Compiled for AVX2, whatever the rest is compiled for: callers ask hasPairProducts() first.
#define HALFTONE_PAIRS [[gnu::target("avx2,fma")]]

namespace {

class PairConvKernel final : public kernels::Kernel
{
public:
    PairConvKernel(CodeConv conv, int threads)
        : m_conv(std::move(conv))
        , m_threads(threads)
        , m_pitch(m_conv.reach(1) * m_conv.channels * 2)
        , m_picture(m_conv.reach(0) * m_pitch)
        , m_scales(codeFactors(m_conv, groupsOf(m_conv) * kPairGroup))
    {
        m_low = static_cast<float>(m_conv.low * m_conv.codes);
        m_high = static_cast<float>(m_conv.high * m_conv.codes);
        if (!m_conv.givesReals) {
            m_low = std::max(m_low, m_conv.givesSigned ? -128.0F : 0.0F);
            m_high = std::min(m_high, m_conv.givesSigned ? 127.0F : 255.0F);
        }
    }

    std::string name() const override { return "own codes avx2"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        const ThreadScope scope(m_threads);
        const Ends ends{m_conv.addendStep == 0 ? nullptr : inputs[2], outputs[0]};
        const std::int64_t rows = m_conv.pictures * m_conv.reach(0);
        const std::int64_t pixels = m_conv.pictures * m_conv.to[0] * m_conv.to[1];
        const std::int64_t groups = groupsOf(m_conv);
#pragma omp parallel
        {
            const std::int64_t threads = omp_get_num_threads();
            const std::int64_t thread = omp_get_thread_num();
            for (std::int64_t row = rows * thread / threads; row < rows * (thread + 1) / threads; ++row)
                widenRow(inputs[0], row, outputs[1] + row * m_pitch);
#pragma omp barrier
            // Each thread gets as many: parts of the pixels where the groups alone do not divide.
            const std::int64_t parts = threads / std::gcd(groups, threads);
            const std::int64_t units = groups * parts;
            for (std::int64_t unit = units * thread / threads; unit < units * (thread + 1) / threads; ++unit)
                computeGroup(outputs[1], inputs[1], unit / parts, ends, pixels * (unit % parts) / parts,
                             pixels * (unit % parts + 1) / parts);
        }
        return {};
    }

private:
    struct Ends
    {
        const std::byte *addend = nullptr;
        std::byte *result = nullptr;
    };

    /// A row of the data with what pads it.
    void widenRow(const std::byte *data, std::int64_t row, std::byte *to) const
    {
        const auto [left, inside, right, picture, y] = paddedRow(m_conv, row);
        const std::int64_t bytes = m_conv.channels * 2;
        std::memset(to, 0, static_cast<std::size_t>(left * bytes));
        std::memset(to + (left + inside) * bytes, 0, static_cast<std::size_t>(right * bytes));
        if (inside == 0)
            return;
        const std::byte *const from
            = data + (picture * m_conv.from[0] + y) * m_conv.from[1] * m_conv.channels;
        if (m_conv.isSigned)
            widen<true>(from, inside * m_conv.channels, to + left * bytes);
        else
            widen<false>(from, inside * m_conv.channels, to + left * bytes);
    }

    template <bool kSigned>
    HALFTONE_PAIRS static void widen(const std::byte *from, std::int64_t count, std::byte *to)
    {
        std::int64_t k = 0;
        for (; k + 16 <= count; k += 16) {
            const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + k));
            _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + 2 * k),
                                kSigned ? _mm256_cvtepi8_epi16(codes) : _mm256_cvtepu8_epi16(codes));
        }
        for (; k < count; ++k) {
            const auto code = static_cast<std::int16_t>(kSigned ? static_cast<std::int8_t>(from[k])
                                                                : static_cast<std::uint8_t>(from[k]));
            std::memcpy(to + 2 * k, &code, sizeof code);
        }
    }

    /// The pixels from `begin` to `end`, in tiles that differ by one at most.
    void computeGroup(const std::byte *data, const std::byte *weights, std::int64_t group, const Ends &ends,
                      std::int64_t begin, std::int64_t end) const
    {
        const std::byte *const packed = weights + group * groupBytes(m_conv);
        const std::int64_t count = end - begin;
        const std::int64_t tiles = (count + kMostPixels - 1) / kMostPixels;
        for (std::int64_t tile = 0; tile < tiles; ++tile) {
            const std::int64_t first = begin + count * tile / tiles;
            const std::byte *pixels[kMostPixels];
            const std::int64_t size = begin + count * (tile + 1) / tiles - first;
            for (std::int64_t p = 0; p < size; ++p)
                pixels[p] = data + windowOf(first + p);
            switch (size) {
            case 6:
                computeTile<6>(pixels, packed, group, ends, first);
                break;
            case 5:
                computeTile<5>(pixels, packed, group, ends, first);
                break;
            case 4:
                computeTile<4>(pixels, packed, group, ends, first);
                break;
            case 3:
                computeTile<3>(pixels, packed, group, ends, first);
                break;
            case 2:
                computeTile<2>(pixels, packed, group, ends, first);
                break;
            default:
                computeTile<1>(pixels, packed, group, ends, first);
            }
        }
    }

    /// Where the window of a pixel of the result begins, in bytes.
    std::int64_t windowOf(std::int64_t pixel) const
    {
        const std::int64_t each = m_conv.to[0] * m_conv.to[1];
        const std::int64_t y = pixel % each / m_conv.to[1];
        const std::int64_t x = pixel % m_conv.to[1];
        return pixel / each * m_picture + y * m_conv.stride[0] * m_pitch
            + x * m_conv.stride[1] * m_conv.channels * 2;
    }

    template <int kPixels>
    HALFTONE_PAIRS void computeTile(const std::byte *const *pixels, const std::byte *weights,
                                    std::int64_t group, const Ends &ends, std::int64_t first) const
    {
        __m256i sums[kPixels][2];
        sumPairs<kPixels>(pixels, weights, sums);
        for (int p = 0; p < kPixels; ++p) {
            std::byte *const result = ends.result
                + (first + p) * m_conv.rowWidth
                    * static_cast<std::int64_t>(m_conv.givesReals ? sizeof(float) : 1);
            if (ends.addend == nullptr)
                store<false>(sums[p], group, nullptr, result);
            else
                store<true>(sums[p], group, ends.addend + (first + p) * m_conv.outputs, result);
        }
    }

    template <int kPixels>
    HALFTONE_PAIRS void sumPairs(const std::byte *const *pixels, const std::byte *weights,
                                 __m256i (&sums)[kPixels][2]) const
    {
        __m256i acc[kPixels][2];
        const std::byte *at[kPixels];
#pragma GCC unroll 6
        for (int p = 0; p < kPixels; ++p) {
            at[p] = pixels[p]; // NOLINT(clang-analyzer-core.uninitialized.Assign): a tile has as many
            acc[p][0] = _mm256_setzero_si256();
            acc[p][1] = _mm256_setzero_si256();
        }
        const std::int64_t bytes = pairsOf(m_conv) * kPairBytes;
        for (std::int64_t y = 0; y < m_conv.kernel[0]; ++y) {
            for (std::int64_t k = 0; k < bytes; k += kPairBytes, weights += kPairGroup * kPairBytes) {
                const __m256i low = _mm256_load_si256(reinterpret_cast<const __m256i *>(weights));
                const __m256i high = _mm256_load_si256(reinterpret_cast<const __m256i *>(weights + 32));
#pragma GCC unroll 6
                for (int p = 0; p < kPixels; ++p) {
                    std::int32_t pair = 0;
                    std::memcpy(&pair, at[p] + k, sizeof pair);
                    __m256i data = _mm256_set1_epi32(pair);
                    // Else it would be loaded again for each product.
                    asm("" : "+x"(data));
                    acc[p][0] = _mm256_add_epi32(acc[p][0], _mm256_madd_epi16(low, data));
                    acc[p][1] = _mm256_add_epi32(acc[p][1], _mm256_madd_epi16(high, data));
                }
            }
#pragma GCC unroll 6
            for (int p = 0; p < kPixels; ++p)
                at[p] += m_pitch;
        }
#pragma GCC unroll 6
        for (int p = 0; p < kPixels; ++p) {
            sums[p][0] = acc[p][0];
            sums[p][1] = acc[p][1];
        }
    }

    /// A pixel's codes of a group.
    template <bool kAdds>
    HALFTONE_PAIRS void store(const __m256i (&sums)[2], std::int64_t group, const std::byte *addend,
                              std::byte *result) const
    {
        const std::int64_t first = group * kPairGroup;
        const auto channels = static_cast<std::size_t>(std::min(kPairGroup, m_conv.outputs - first));
        const __m256 low = _mm256_set1_ps(m_low);
        const __m256 high = _mm256_set1_ps(m_high);
        const __m256 addendFactor = _mm256_set1_ps(static_cast<float>(m_conv.addendStep * m_conv.codes));
        std::byte codes[kPairGroup]{};
        if constexpr (kAdds)
            std::memcpy(codes, addend + first, channels);
        __m256 reals[2];
        for (int half = 0; half < 2; ++half) {
            const std::int64_t channel = first + std::int64_t{8} * half;
            __m256 real = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[half]),
                                          _mm256_loadu_ps(m_scales.factors.data() + channel),
                                          _mm256_loadu_ps(m_scales.bias.data() + channel));
            if constexpr (kAdds) {
                const __m128i added
                    = _mm_loadl_epi64(reinterpret_cast<const __m128i *>(codes + std::ptrdiff_t{8} * half));
                const __m256i wide
                    = m_conv.hasSignedAddend ? _mm256_cvtepi8_epi32(added) : _mm256_cvtepu8_epi32(added);
                real = _mm256_fmadd_ps(_mm256_cvtepi32_ps(wide), addendFactor, real);
            }
            reals[half] = _mm256_min_ps(high, _mm256_max_ps(low, real));
        }
        if (m_conv.givesReals) {
            float values[kPairGroup];
            _mm256_storeu_ps(values, reals[0]);
            _mm256_storeu_ps(values + 8, reals[1]);
            std::memcpy(result + first * static_cast<std::int64_t>(sizeof(float)), values,
                        channels * sizeof(float));
            return;
        }
        // Packing takes from either half in turn: the quarters are put in order again.
        const __m256i words = _mm256_permute4x64_epi64(
            _mm256_packs_epi32(_mm256_cvtps_epi32(reals[0]), _mm256_cvtps_epi32(reals[1])), 0xD8);
        const __m128i front = _mm256_castsi256_si128(words);
        const __m128i back = _mm256_extracti128_si256(words, 1);
        const __m128i bytes
            = m_conv.givesSigned ? _mm_packs_epi16(front, back) : _mm_packus_epi16(front, back);
        if (channels == kPairGroup) {
            _mm_storeu_si128(reinterpret_cast<__m128i *>(result + first), bytes);
            return;
        }
        _mm_storeu_si128(reinterpret_cast<__m128i *>(codes), bytes);
        std::memcpy(result + first, codes, channels);
    }

    CodeConv m_conv;
    int m_threads = 0;
    std::int64_t m_pitch = 0; ///< bytes from row to row of the widened data
    std::int64_t m_picture = 0; ///< and from picture to picture
    float m_low = 0; ///< in codes
    float m_high = 0;
    CodeFactors m_scales;
};

} // namespace

#endif

std::unique_ptr<kernels::Kernel> pairConvKernel(CodeConv conv, int threads)
{
#ifdef __x86_64__
    return std::make_unique<PairConvKernel>(std::move(conv), threads);
#else
    static_cast<void>(conv);
    static_cast<void>(threads);
    return nullptr;
#endif
}

} // namespace halftone::backends::onednn
