#include "core/backends/onednn/loops/code_conv.h"

#include "core/backends/onednn/dnnl_common.h"
#include "core/backends/onednn/loops/picture_codes.h"
#include "core/backends/onednn/loops/word_products.h"
#include "core/backends/onednn/scratch.h"
#include "core/base/memory.h"

#include <omp.h>

#include <algorithm>
#include <cstring>

namespace halftone::backends::onednn {
namespace {

constexpr std::int64_t kWord = 4; ///< codes that are multiplied together
constexpr std::int64_t kGroup = 64; ///< output channels that are computed together
constexpr std::uint8_t kHalf = 0x80; ///< added to signed codes, and its products taken off again

/// Of a pixel in what the kernel reads. Few channels take a word of their own where that costs no more words: then these lie at
/// multiples of their size.
std::int64_t pixelBytes(const CodeConv &conv)
{
    const std::int64_t together = (conv.kernel[1] * conv.channels + kWord - 1) / kWord;
    return conv.channels < kWord && together == conv.kernel[1] ? kWord : conv.channels;
}

/// Words of a row of a window, whose pixels lie one after the other.
std::int64_t wordsOf(const CodeConv &conv)
{
    return (conv.kernel[1] * pixelBytes(conv) + kWord - 1) / kWord;
}

std::int64_t paddedOutputs(const CodeConv &conv)
{
    constexpr std::int64_t kLanes = 16;
    return (conv.outputs + kLanes - 1) / kLanes * kLanes;
}

bool isCopied(const CodeConv &conv)
{
    return conv.isSigned || conv.planeCodes != 0 || conv.kernel[1] * conv.channels % kWord != 0
        || conv.pad[0] != 0 || conv.pad[1] != 0 || conv.reach(0) > conv.from[0]
        || conv.reach(1) > conv.from[1];
}

#ifdef __x86_64__

using wide::Taps;

class CodeConvKernel final : public kernels::Kernel
{
public:
    CodeConvKernel(CodeConv conv, int threads)
        : m_conv(std::move(conv))
        , m_threads(threads)
        , m_isCopied(isCopied(m_conv))
        , m_pixelBytes(pixelBytes(m_conv))
        , m_coder(m_conv.channels, m_conv.planeCodes, m_conv.isSigned ? tensor::DType::I8 : tensor::DType::U8,
                  m_conv.isSigned ? kHalf : std::uint8_t{0})
        , m_pitch(m_isCopied ? m_conv.reach(1) : m_conv.from[1])
        , m_picture((m_isCopied ? m_conv.reach(0) : m_conv.from[0]) * m_pitch)
        , m_scales(codeFactors(m_conv, paddedOutputs(m_conv)))
    {
        for (std::int64_t y = 0; y < m_conv.kernel[0]; ++y)
            m_offsets.push_back(static_cast<std::int32_t>(y * m_pitch * m_pixelBytes));
        m_taps = {m_offsets.data(), static_cast<std::int32_t>(m_offsets.size()),
                  static_cast<std::int32_t>(wordsOf(m_conv))};
    }

    std::string name() const override { return "own codes avx512_vnni"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        const ThreadScope scope(m_threads);
        const std::byte *const data = m_isCopied ? outputs[1] : inputs[0];
#pragma omp parallel
        {
            const std::int64_t threads = omp_get_num_threads();
            const std::int64_t thread = omp_get_thread_num();
            if (m_isCopied) {
                const std::int64_t rows = m_conv.pictures * m_conv.reach(0);
                for (std::int64_t row = rows * thread / threads; row < rows * (thread + 1) / threads; ++row)
                    copyRow(inputs[0], row, outputs[1]);
#pragma omp barrier
            }
            const std::int64_t pixels = m_conv.pictures * m_conv.to[0] * m_conv.to[1];
            compute(data, inputs[1], {m_conv.addendStep == 0 ? nullptr : inputs[2], outputs[0]},
                    pixels * thread / threads, pixels * (thread + 1) / threads);
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
    void copyRow(const std::byte *data, std::int64_t row, std::byte *copy) const
    {
        std::byte *const to = copy + row * m_pitch * m_pixelBytes;
        const std::uint8_t zero = m_conv.isSigned ? kHalf : 0;
        const auto [left, inside, right, picture, y] = paddedRow(m_conv, row);
        std::memset(to, zero, static_cast<std::size_t>(left * m_pixelBytes));
        if (inside > 0)
            copyPixels(data, picture, y, inside, to + left * m_pixelBytes);
        std::memset(to + (left + inside) * m_pixelBytes, zero,
                    static_cast<std::size_t>(right * m_pixelBytes));
    }

    void copyPixels(const std::byte *data, std::int64_t picture, std::int64_t y, std::int64_t count,
                    std::byte *to) const
    {
        const std::int64_t plane = m_conv.from[0] * m_conv.from[1];
        if (m_conv.planeCodes != 0) {
            const auto *const planes = reinterpret_cast<const float *>(data);
            m_coder.write(planes + picture * m_conv.channels * plane + y * m_conv.from[1], plane, count, to,
                          m_pixelBytes);
            return;
        }
        const std::byte *const from = data + (picture * plane + y * m_conv.from[1]) * m_conv.channels;
        const std::byte flip{m_conv.isSigned ? kHalf : std::uint8_t{0}};
        const std::int64_t channels = m_conv.channels;
        const std::int64_t bytes = m_pixelBytes;
        if (bytes != channels) {
            for (std::int64_t k = 0; k < count * bytes; ++k)
                to[k] = k % bytes < channels ? from[k / bytes * channels + k % bytes] ^ flip : std::byte{0};
        } else if (m_conv.isSigned) {
            for (std::int64_t k = 0; k < count * bytes; ++k)
                to[k] = from[k] ^ flip;
        } else {
            std::memcpy(to, from, static_cast<std::size_t>(count * bytes));
        }
    }

    void compute(const std::byte *data, const std::byte *weights, const Ends &ends, std::int64_t begin,
                 std::int64_t end) const
    {
        const std::int64_t outputs = paddedOutputs(m_conv);
        const std::int64_t bytes = std::int64_t{m_taps.count} * m_taps.words * kWord;
        const auto *const offsets = reinterpret_cast<const std::int32_t *>(weights + outputs * bytes);
        for (std::int64_t k = 0; k < outputs; k += kGroup) {
            const std::byte *const group = weights + k * bytes;
            switch (std::min(outputs - k, kGroup) / 16) {
            case 4:
                computeGroup<4, 6>(data, group, offsets, k, ends, begin, end);
                break;
            case 3:
                computeGroup<3, 8>(data, group, offsets, k, ends, begin, end);
                break;
            case 2:
                computeGroup<2, 8>(data, group, offsets, k, ends, begin, end);
                break;
            default:
                computeGroup<1, 8>(data, group, offsets, k, ends, begin, end);
            }
        }
    }

    template <int kVectors, int kPixels>
    HALFTONE_WIDE void computeGroup(const std::byte *data, const std::byte *weights,
                                    const std::int32_t *offsets, std::int64_t first, const Ends &ends,
                                    std::int64_t begin, std::int64_t end) const
    {
        const std::int64_t each = m_conv.to[0] * m_conv.to[1];
        // Where the window of the next pixel begins.
        std::int64_t picture = begin / each;
        std::int64_t y = begin % each / m_conv.to[1];
        std::int64_t x = begin % m_conv.to[1];
        for (std::int64_t pixel = begin; pixel < end; pixel += kPixels) {
            const std::byte *pixels[kPixels];
            const std::int64_t count = std::min<std::int64_t>(kPixels, end - pixel);
            for (std::int64_t p = 0; p < kPixels; ++p) {
                if (p >= count) {
                    pixels[p] = pixels[0];
                    continue;
                }
                pixels[p] = data
                    + (picture * m_picture + y * m_conv.stride[0] * m_pitch + x * m_conv.stride[1])
                        * m_pixelBytes;
                if (++x == m_conv.to[1]) {
                    x = 0;
                    if (++y == m_conv.to[0]) {
                        y = 0;
                        ++picture;
                    }
                }
            }
            __m512i sums[kPixels][kVectors];
            wide::sumProducts<wide::Word::Codes, kVectors, kPixels>(pixels, m_taps, weights, sums);
            std::byte *const result = ends.result + pixel * m_conv.rowWidth;
            if (ends.addend == nullptr)
                store<false, kVectors, kPixels>(sums, offsets, first, {nullptr, result}, count);
            else
                store<true, kVectors, kPixels>(sums, offsets, first,
                                               {ends.addend + pixel * m_conv.outputs, result}, count);
        }
    }

    template <bool kAdds, int kVectors, int kPixels>
    HALFTONE_WIDE void store(const __m512i (&sums)[kPixels][kVectors], const std::int32_t *offsets,
                             std::int64_t first, const Ends &ends, std::int64_t count) const
    {
        const float least = m_conv.givesSigned ? -128 : 0;
        const float most = m_conv.givesSigned ? 127 : 255;
        const __m512 addendFactor = _mm512_set1_ps(static_cast<float>(m_conv.addendStep * m_conv.codes));
        const __m512 low = _mm512_set1_ps(std::max(static_cast<float>(m_conv.low * m_conv.codes), least));
        const __m512 high = _mm512_set1_ps(std::min(static_cast<float>(m_conv.high * m_conv.codes), most));
#pragma GCC unroll 4
        for (int b = 0; b < kVectors; ++b) {
            const std::int64_t channel = first + std::int64_t{16} * b;
            const __m512 factor = _mm512_loadu_ps(m_scales.factors.data() + channel);
            const __m512 bias = _mm512_loadu_ps(m_scales.bias.data() + channel);
            const __m512i offset = _mm512_loadu_si512(offsets + channel);
            const std::int64_t lanes = std::min<std::int64_t>(16, m_conv.outputs - channel);
            const auto mask = static_cast<__mmask16>((1U << lanes) - 1);
#pragma GCC unroll 8
            for (int p = 0; p < kPixels; ++p) {
                if (p >= count)
                    break;
                const __m512 sum = _mm512_cvtepi32_ps(_mm512_sub_epi32(sums[p][b], offset));
                __m512 real = _mm512_fmadd_ps(sum, factor, bias);
                if constexpr (kAdds) {
                    const __m128i codes
                        = _mm_maskz_loadu_epi8(mask, ends.addend + p * m_conv.outputs + channel);
                    const __m512i wide
                        = m_conv.hasSignedAddend ? _mm512_cvtepi8_epi32(codes) : _mm512_cvtepu8_epi32(codes);
                    real = _mm512_fmadd_ps(_mm512_cvtepi32_ps(wide), addendFactor, real);
                }
                real = _mm512_min_ps(high, _mm512_max_ps(low, real));
                // Within 8 bits, of either sign: the lower ones say it all.
                _mm512_mask_cvtepi32_storeu_epi8(ends.result + p * m_conv.rowWidth + channel, mask,
                                                 _mm512_cvtps_epi32(real));
            }
        }
    }

    CodeConv m_conv;
    int m_threads = 0;
    bool m_isCopied = false;
    std::int64_t m_pixelBytes = 0;
    PictureCoder m_coder;
    std::int64_t m_pitch = 0; ///< pixels from row to row of what is read
    std::int64_t m_picture = 0; ///< pixels from picture to picture
    std::vector<std::int32_t> m_offsets;
    Taps m_taps;
    CodeFactors m_scales;
};

class CodeMaximaKernel final : public kernels::Kernel
{
public:
    CodeMaximaKernel(const CodeMaxima &maxima, int threads)
        : m_maxima(maxima)
        , m_threads(threads)
    {
    }

    std::string name() const override { return "own maxima avx512"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        const ThreadScope scope(m_threads);
        const std::int64_t rows = m_maxima.pictures * m_maxima.to[0];
#pragma omp parallel for schedule(static)
        for (std::int64_t row = 0; row < rows; ++row) {
            if (m_maxima.isSigned)
                computeRow<true>(inputs[0], row, outputs[0]);
            else
                computeRow<false>(inputs[0], row, outputs[0]);
        }
        return {};
    }

private:
    template <bool kSigned>
    HALFTONE_WIDE void computeRow(const std::byte *data, std::int64_t row, std::byte *result) const
    {
        const CodeMaxima &m = m_maxima;
        const std::int64_t y0 = row % m.to[0] * m.stride[0] - m.pad[0];
        const std::int64_t top = std::max<std::int64_t>(y0, 0);
        const std::int64_t bottom = std::min(y0 + m.kernel[0], m.from[0]);
        const std::byte *const picture = data + row / m.to[0] * m.from[0] * m.from[1] * m.channels;
        std::byte *to = result + row * m.to[1] * m.channels;
        for (std::int64_t x = 0; x < m.to[1]; ++x, to += m.channels) {
            const std::int64_t x0 = x * m.stride[1] - m.pad[1];
            const std::int64_t left = std::max<std::int64_t>(x0, 0);
            const std::int64_t right = std::min(x0 + m.kernel[1], m.from[1]);
            for (std::int64_t c = 0; c < m.channels; c += 64) {
                const std::int64_t lanes = std::min<std::int64_t>(64, m.channels - c);
                const __mmask64 mask = lanes == 64 ? ~__mmask64{0} : (__mmask64{1} << lanes) - 1;
                __m512i most = _mm512_set1_epi8(kSigned ? -128 : 0);
                for (std::int64_t y = top; y < bottom; ++y)
                    for (std::int64_t at = left; at < right; ++at) {
                        const __m512i value
                            = _mm512_maskz_loadu_epi8(mask, picture + (y * m.from[1] + at) * m.channels + c);
                        most = kSigned ? _mm512_max_epi8(most, value) : _mm512_max_epu8(most, value);
                    }
                _mm512_mask_storeu_epi8(to + c, mask, most);
            }
        }
    }

    CodeMaxima m_maxima;
    int m_threads = 0;
};

#endif

} // namespace

PaddedRow paddedRow(const CodeConv &conv, std::int64_t row)
{
    const std::int64_t rows = conv.reach(0);
    const std::int64_t width = conv.reach(1);
    const std::int64_t y = row % rows - conv.pad[0];
    const bool isThere = y >= 0 && y < conv.from[0];
    const std::int64_t left = isThere ? std::min(conv.pad[1], width) : width;
    const std::int64_t inside = isThere ? std::min(conv.from[1], width - left) : 0;
    return {left, inside, width - left - inside, row / rows, y};
}

CodeFactors codeFactors(const CodeConv &conv, std::int64_t outputs)
{
    CodeFactors made;
    made.factors.resize(static_cast<std::size_t>(outputs));
    made.bias.resize(static_cast<std::size_t>(outputs));
    for (std::size_t k = 0; k < static_cast<std::size_t>(conv.outputs); ++k) {
        made.factors[k] = static_cast<float>(conv.codes * conv.factors[conv.factors.size() == 1 ? 0 : k]);
        made.bias[k] = static_cast<float>(conv.codes * (conv.bias.empty() ? 0 : conv.bias[k]));
    }
    return made;
}

std::size_t CodeConv::paddedBytes() const
{
    return isCopied(*this) ? static_cast<std::size_t>(pictures * reach(0) * reach(1) * pixelBytes(*this)
                                                      + kWord) // of whole words
                           : 0;
}

Result<std::shared_ptr<const Packed>> packCodeWeights(const CodeConv &conv,
                                                      std::span<const std::int8_t> weights)
{
    const std::int64_t outputs = paddedOutputs(conv);
    const std::int64_t bytes = conv.kernel[0] * wordsOf(conv) * kWord; // of an output channel
    auto packed = std::make_shared<Packed>();
    packed->bytes = static_cast<std::size_t>(outputs * (bytes + std::int64_t{sizeof(std::int32_t)}));
    packed->memory = allocateTogether(packed->bytes);
    if (!packed->memory)
        return outOfMemory(packed->bytes, "weights");
    std::memset(packed->memory.get(), 0, packed->bytes);
    auto *const offsets = reinterpret_cast<std::int32_t *>(packed->memory.get() + outputs * bytes);
    for (std::int64_t k = 0; k < conv.outputs; ++k) {
        const std::int64_t first = k / kGroup * kGroup;
        const std::int64_t group = std::min(outputs - first, kGroup);
        std::byte *const to = packed->memory.get() + first * bytes;
        std::int32_t sum = 0;
        for (std::int64_t y = 0; y < conv.kernel[0]; ++y)
            for (std::int64_t x = 0; x < conv.kernel[1]; ++x)
                for (std::int64_t c = 0; c < conv.channels; ++c) {
                    const std::int8_t weight = weights[static_cast<std::size_t>(
                        ((k * conv.channels + c) * conv.kernel[0] + y) * conv.kernel[1] + x)];
                    const std::int64_t at = x * pixelBytes(conv) + c;
                    sum += weight;
                    to[((y * wordsOf(conv) + at / kWord) * group + k - first) * kWord + at % kWord]
                        = static_cast<std::byte>(weight);
                }
        offsets[k] = conv.isSigned ? kHalf * sum : 0;
    }
    return std::shared_ptr<const Packed>(std::move(packed));
}

std::unique_ptr<kernels::Kernel> codeConvKernel(CodeConv conv, int threads)
{
#ifdef __x86_64__
    return std::make_unique<CodeConvKernel>(std::move(conv), threads);
#else
    static_cast<void>(conv);
    static_cast<void>(threads);
    return nullptr;
#endif
}

std::unique_ptr<kernels::Kernel> codeMaximaKernel(const CodeMaxima &maxima, int threads)
{
#ifdef __x86_64__
    return std::make_unique<CodeMaximaKernel>(maxima, threads);
#else
    static_cast<void>(maxima);
    static_cast<void>(threads);
    return nullptr;
#endif
}

} // namespace halftone::backends::onednn
