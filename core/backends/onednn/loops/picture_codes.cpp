#include "core/backends/onednn/loops/picture_codes.h"

#include "core/backends/onednn/loops/round_even.h"

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

using Pack = decltype(&packPlain);

Pack fastestPack()
{
#ifdef __x86_64__
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
        , m_range(type == tensor::DType::I8 ? CodeRange{static_cast<float>(factor), -128, 127}
                                            : CodeRange{static_cast<float>(factor), 0, 255})
        , m_write(kWrites[static_cast<std::size_t>(planes.channels - 1)])
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
            const std::int64_t count = std::min(kRun, m_planes.pixels - first);
            std::array<std::uint32_t, kRun> words;
            m_pack(from + picture * m_planes.channels * m_planes.pixels + first, m_planes.pixels,
                   m_planes.channels, count, m_range, words.data());
            m_write(words.data(), count,
                    outputs[0] + (picture * m_planes.pixels + first) * m_planes.channels);
        }
        return {};
    }

private:
    PicturePlanes m_planes;
    CodeRange m_range;
    Pack m_pack = fastestPack();
    Write m_write;
};

} // namespace

std::unique_ptr<kernels::Kernel> pictureCodesKernel(const PicturePlanes &planes, double factor,
                                                    tensor::DType type)
{
    return std::make_unique<PictureCodes>(planes, factor, type);
}

} // namespace halftone::backends::onednn
