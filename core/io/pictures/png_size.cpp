#include "core/io/pictures/png_size.h"

#include "core/base/text.h"
#include "core/io/pictures/png_chunks.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace halftone::io {
namespace {

constexpr std::uint64_t kMostPerByte = 1032; ///< bytes that one byte can unpack to
constexpr std::uint64_t kHarmless = std::uint64_t{256} << 20;

/// Of all rows with the byte before each, and as much again for what interlacing rounds up.
std::uint64_t mostBytes(std::span<const std::byte> header)
{
    constexpr std::array<std::uint64_t, 7> kChannels{1, 1, 3, 1, 2, 1, 4}; // by colour type
    const std::uint64_t width = bigEndian(header);
    const std::uint64_t height = bigEndian(header.subspan(4));
    const std::size_t colours = std::to_integer<std::size_t>(header[9]);
    const std::uint64_t bits
        = std::to_integer<std::uint64_t>(header[8]) * kChannels[colours % kChannels.size()];
    return 2 * height * (1 + (width * bits + 7) / 8) + 4096;
}

/// Unpacks, and forgets, piece by piece.
class Counter
{
public:
    Counter() { m_isOpen = inflateInit(&m_stream) == Z_OK; }
    ~Counter()
    {
        if (m_isOpen)
            inflateEnd(&m_stream);
    }
    Counter(const Counter &) = delete;
    Counter &operator=(const Counter &) = delete;

    /// False at the end, and where it is damaged.
    bool take(std::span<const std::byte> packed, std::uint64_t most)
    {
        m_stream.next_in = const_cast<Bytef *>(reinterpret_cast<const Bytef *>(packed.data()));
        m_stream.avail_in = static_cast<uInt>(packed.size());
        int state = m_isOpen ? Z_OK : Z_MEM_ERROR;
        while (state == Z_OK && m_stream.avail_in > 0 && count() <= most) {
            m_stream.next_out = m_piece.data();
            m_stream.avail_out = static_cast<uInt>(m_piece.size());
            state = inflate(&m_stream, Z_NO_FLUSH);
        }
        return state == Z_OK && count() <= most;
    }
    std::uint64_t count() const { return m_stream.total_out; }

private:
    std::array<Bytef, 1 << 15> m_piece{};
    z_stream m_stream{};
    bool m_isOpen = false;
};

} // namespace

Result<void> checkPngSize(std::span<const std::byte> bytes)
{
    constexpr std::size_t kHeader = 13;
    std::optional<PngChunks> chunks = PngChunks::of(bytes);
    if (!chunks || bytes.size() < kHarmless / kMostPerByte)
        return {};
    const auto header = chunks->next("IHDR");
    if (!header || header->size() < kHeader)
        return {};
    const std::uint64_t most = mostBytes(*header);
    Counter counter;
    for (auto rows = chunks->next("IDAT"); rows && counter.take(*rows, most); rows = chunks->next("IDAT")) { }
    if (counter.count() > most)
        return badInput({}, "a PNG whose rows unpack to more than " + humanBytes(most),
                        "no more than its width and height need");
    return {};
}

Result<void> checkPngSums(std::span<const std::byte> bytes)
{
    constexpr std::array<std::string_view, 5> kOfPixels{"IHDR", "PLTE", "tRNS", "IDAT", "IEND"};
    std::optional<PngChunks> chunks = PngChunks::of(bytes);
    while (chunks) {
        const auto part = chunks->next();
        if (!part)
            break;
        if (std::ranges::find(kOfPixels, part->name()) == kOfPixels.end())
            continue;
        const auto *const data = reinterpret_cast<const Bytef *>(part->summed.data());
        if (::crc32_z(0, data, part->summed.size()) != part->checksum)
            return badInput(
                {}, "a damaged PNG: the checksum of its part " + std::string(part->name()) + " is wrong",
                "a PNG as it was written");
    }
    return {};
}

} // namespace halftone::io
