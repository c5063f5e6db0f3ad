#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace halftone::io {

/// Four bytes of a PNG as a number. Needs: so many.
inline std::uint32_t bigEndian(std::span<const std::byte> bytes)
{
    std::uint32_t number = 0;
    for (const std::byte byte : bytes.first(4))
        number = number << 8 | std::to_integer<std::uint32_t>(byte);
    return number;
}

/// The parts of a PNG one after another (PNG 1.2, section 3.2): length, name, content, checksum, which is not looked at.
class PngChunks
{
public:
    /// Nothing for what does not begin as a PNG does.
    static std::optional<PngChunks> of(std::span<const std::byte> file)
    {
        constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
        const std::string_view text(reinterpret_cast<const char *>(file.data()), file.size());
        return text.starts_with(kSignature) ? std::optional(PngChunks(file.subspan(kSignature.size())))
                                            : std::nullopt;
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
    explicit PngChunks(std::span<const std::byte> rest)
        : m_rest(rest)
    {
    }

    std::span<const std::byte> m_rest;
};

} // namespace halftone::io
