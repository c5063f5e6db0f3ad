#include "core/io/pictures/png_size.h"

#include "core/base/text.h"

#include <zlib.h>

#include <array>
#include <optional>
#include <string_view>

namespace halftone::io {
namespace {

constexpr std::uint64_t kMostPerByte = 1032; ///< bytes that one byte can unpack to
constexpr std::uint64_t kHarmless = std::uint64_t{256} << 20;

std::uint32_t bigEndian(std::span<const std::byte> bytes)
{
    std::uint32_t number = 0;
    for (const std::byte byte : bytes.first(4))
        number = number << 8 | std::to_integer<std::uint32_t>(byte);
    return number;
}

/// The parts of a PNG one after another: length, name, content, checksum.
class Chunks
{
public:
    explicit Chunks(std::span<const std::byte> bytes)
        : m_rest(bytes)
    {
    }

    /// Of the next part with this name; nothing behind the last one.
    std::optional<std::span<const std::byte>> next(std::string_view name)
    {
        constexpr std::size_t kAround = 12;
        while (m_rest.size() >= kAround) {
            const std::size_t length = bigEndian(m_rest);
            if (length > m_rest.size() - kAround)
                return std::nullopt;
            const std::string_view found(reinterpret_cast<const char *>(m_rest.data()) + 4, 4);
            const auto content = m_rest.subspan(8, length);
            m_rest = m_rest.subspan(kAround + length);
            if (found == name)
                return content;
        }
        return std::nullopt;
    }

private:
    std::span<const std::byte> m_rest;
};

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
    constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
    constexpr std::size_t kHeader = 13;
    const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    if (!text.starts_with(kSignature) || bytes.size() < kHarmless / kMostPerByte)
        return {};
    Chunks chunks(bytes.subspan(kSignature.size()));
    const auto header = chunks.next("IHDR");
    if (!header || header->size() < kHeader)
        return {};
    const std::uint64_t most = mostBytes(*header);
    Counter counter;
    for (auto rows = chunks.next("IDAT"); rows && counter.take(*rows, most); rows = chunks.next("IDAT")) { }
    if (counter.count() > most)
        return badInput({}, "a PNG whose rows unpack to more than " + humanBytes(most),
                        "no more than its width and height ask for");
    return {};
}

} // namespace halftone::io
