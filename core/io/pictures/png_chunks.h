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

/// The parts of a PNG one after another (PNG 1.2, section 3.2): length, name, content, checksum.
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

    struct Part
    {
        std::span<const std::byte> summed; ///< the name, of four bytes, and the content
        std::uint32_t checksum = 0; ///< as the file says it; CRC-32

        std::string_view name() const { return {reinterpret_cast<const char *>(summed.data()), kName}; }
        std::span<const std::byte> content() const { return summed.subspan(kName); }
    };

    /// Nothing behind the last part that is whole.
    std::optional<Part> next()
    {
        constexpr std::size_t kAround = kLength + kName + kChecksum;
        if (m_rest.size() < kAround)
            return std::nullopt;
        const std::size_t length = bigEndian(m_rest);
        if (length > m_rest.size() - kAround)
            return std::nullopt;
        const Part part{m_rest.subspan(kLength, kName + length),
                        bigEndian(m_rest.subspan(kLength + kName + length))};
        m_rest = m_rest.subspan(kAround + length);
        return part;
    }

    /// The content of the next part with this name; nothing behind the last one.
    std::optional<std::span<const std::byte>> next(std::string_view name)
    {
        while (const auto part = next()) {
            if (part->name() == name)
                return part->content();
        }
        return std::nullopt;
    }

private:
    static constexpr std::size_t kLength = 4; ///< bytes of a part's fields
    static constexpr std::size_t kName = 4;
    static constexpr std::size_t kChecksum = 4;

    explicit PngChunks(std::span<const std::byte> rest)
        : m_rest(rest)
    {
    }

    std::span<const std::byte> m_rest;
};

} // namespace halftone::io
