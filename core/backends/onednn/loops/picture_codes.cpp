#include "core/backends/onednn/loops/picture_codes.h"

#include "core/backends/onednn/loops/round_even.h"
#include "core/backends/onednn/loops/word_products.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace halftone::backends::onednn {
namespace {

constexpr std::int64_t kRun = 512; // pixels at a time: their words stay in the nearest cache

struct CodeRange
{
    float factor;
    float least;
    float most;
};

/// The code in the lowest 8 bits.
[[gnu::always_inline]] inline std::uint32_t wordOf(float value, const CodeRange &range)
{
    const float inside = std::min(std::max(range.least, value * range.factor), range.most);
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(roundEven(inside))) & 0xFFU;
}

/// The codes of `count` pixels, the first channel's lowest.
/// stride  from plane to plane
[[gnu::always_inline]] inline void packInline(const float *from, std::int64_t stride, std::int64_t channels,
                                              std::int64_t count, const CodeRange &range,
                                              std::uint32_t *words)
{
    for (std::int64_t k = 0; k < count; ++k)
        words[k] = wordOf(from[k], range);
    for (std::int64_t c = 1; c < channels; ++c) {
        const float *const plane = from + c * stride;
        for (std::int64_t k = 0; k < count; ++k)
            words[k] |= wordOf(plane[k], range) << (8 * c);
    }
}

void packPlain(const float *from, std::int64_t stride, std::int64_t channels, std::int64_t count,
               const CodeRange &range, std::uint32_t *words)
{
    packInline(from, stride, channels, count, range, words);
}

#ifdef __x86_64__
[[gnu::target("avx2")]] void packAvx2(const float *from, std::int64_t stride, std::int64_t channels,
                                      std::int64_t count, const CodeRange &range, std::uint32_t *words)
{
    packInline(from, stride, channels, count, range, words);
}
#endif

#ifdef __x86_64__
/// Sixteen pixels at a time.
HALFTONE_WIDE void packWide(const float *from, std::int64_t stride, std::int64_t channels, std::int64_t count,
                            const CodeRange &range, std::uint32_t *words)
{
    const __m512 factor = _mm512_set1_ps(range.factor);
    const __m512 least = _mm512_set1_ps(range.least);
    const __m512 most = _mm512_set1_ps(range.most);
    const __m512i low = _mm512_set1_epi32(0xFF);
    for (std::int64_t k = 0; k < count; k += 16) {
        const auto mask = static_cast<__mmask16>(count - k >= 16 ? 0xFFFF : (1 << (count - k)) - 1);
        __m512i word = _mm512_setzero_si512();
        for (std::int64_t c = channels - 1; c >= 0; --c) {
            const __m512 value = _mm512_mul_ps(_mm512_maskz_loadu_ps(mask, from + c * stride + k), factor);
            // The bound second: what is no number becomes it.
            const __m512 inside = _mm512_min_ps(_mm512_max_ps(value, least), most);
            const __m512i code = _mm512_and_si512(_mm512_cvtps_epi32(inside), low);
            word = _mm512_or_si512(_mm512_slli_epi32(word, 8), code);
        }
        _mm512_mask_storeu_epi32(words + k, mask, word);
    }
}
#endif

using Pack = decltype(&packPlain);

Pack fastestPack()
{
#ifdef __x86_64__
    if (hasWideVectors())
        return &packWide;
    if (__builtin_cpu_supports("avx2"))
        return &packAvx2;
#endif
    return &packPlain;
}

/// Whole words are written, of which the next pixels cover what is too much, but for the last: there another thread goes on.
template <std::size_t kChannels>
void writePixels(const std::uint32_t *words, std::int64_t count, std::byte *to)
{
    constexpr std::int64_t kLast = 4;
    const std::int64_t whole = std::max<std::int64_t>(0, count - kLast);
    for (std::int64_t k = 0; k < whole; ++k)
        std::memcpy(to + static_cast<std::size_t>(k) * kChannels, words + k, sizeof *words);
    for (std::int64_t k = whole; k < count; ++k)
        std::memcpy(to + static_cast<std::size_t>(k) * kChannels, words + k, kChannels);
}

using Write = decltype(&writePixels<1>);
constexpr std::array<Write, kMostPictureChannels> kWrites{&writePixels<1>, &writePixels<2>, &writePixels<3>,
                                                          &writePixels<4>};

class PictureCodes final : public kernels::Kernel
{
public:
    PictureCodes(const PicturePlanes &planes, double factor, tensor::DType type)
        : m_planes(planes)
        , m_coder(planes.channels, factor, type)
    {
    }

    std::string name() const override { return "own picture codes"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        const auto *const from = reinterpret_cast<const float *>(inputs[0]);
        const std::int64_t runs = (m_planes.pixels + kRun - 1) / kRun;
#pragma omp parallel for schedule(static)
        for (std::int64_t run = 0; run < runs * m_planes.pictures; ++run) {
            const std::int64_t picture = run / runs;
            const std::int64_t first = run % runs * kRun;
            m_coder.write(from + picture * m_planes.channels * m_planes.pixels + first, m_planes.pixels,
                          std::min(kRun, m_planes.pixels - first),
                          outputs[0] + (picture * m_planes.pixels + first) * m_planes.channels,
                          m_planes.channels);
        }
        return {};
    }

private:
    PicturePlanes m_planes;
    PictureCoder m_coder;
};

} // namespace

PictureCoder::PictureCoder(std::int64_t channels, double factor, tensor::DType type, std::uint8_t flip)
    : m_channels(channels)
    , m_factor(static_cast<float>(factor))
    , m_least(type == tensor::DType::I8 ? -128 : 0)
    , m_most(type == tensor::DType::I8 ? 127 : 255)
    , m_flip(0x01010101U * flip)
{
}

void PictureCoder::write(const float *from, std::int64_t stride, std::int64_t count, std::byte *to,
                         std::int64_t bytes) const
{
    static const Pack pack = fastestPack();
    std::array<std::uint32_t, kRun> words;
    for (std::int64_t first = 0; first < count; first += kRun) {
        const std::int64_t pixels = std::min(kRun, count - first);
        pack(from + first, stride, m_channels, pixels, {m_factor, m_least, m_most}, words.data());
        for (std::int64_t k = 0; k < pixels; ++k)
            words[static_cast<std::size_t>(k)] ^= m_flip;
        kWrites[static_cast<std::size_t>(bytes - 1)](words.data(), pixels, to + first * bytes);
    }
}

std::unique_ptr<kernels::Kernel> pictureCodesKernel(const PicturePlanes &planes, double factor,
                                                    tensor::DType type)
{
    return std::make_unique<PictureCodes>(planes, factor, type);
}

} // namespace halftone::backends::onednn
