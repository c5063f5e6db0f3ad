#pragma once

#include "core/base/result.h"

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace halftone {

static_assert(std::endian::native == std::endian::little,
              "file formats are read by copying little-endian bytes");

/// Reads a little-endian byte string from front to back and never past its end. A read that finds too few
/// bytes is an error that names the place ("byte 24") and what was to be read; the position then stays.
class ByteReader
{
public:
    explicit ByteReader(std::span<const std::byte> bytes)
        : m_bytes(bytes)
    {
    }

    std::size_t offset() const { return m_offset; }
    std::size_t left() const { return m_bytes.size() - m_offset; }

    /// `what` is for the error: "the number of arrays".
    template <std::integral T>
    Result<T> read(std::string_view what)
    {
        if (left() < sizeof(T))
            return tooShort(sizeof(T), what);
        T value{};
        std::memcpy(&value, m_bytes.data() + m_offset, sizeof(T));
        m_offset += sizeof(T);
        return value;
    }

    /// The next `count` bytes, not copied.
    Result<std::span<const std::byte>> take(std::uint64_t count, std::string_view what)
    {
        if (left() < count)
            return tooShort(count, what);
        const auto part = m_bytes.subspan(m_offset, static_cast<std::size_t>(count));
        m_offset += part.size();
        return part;
    }

    /// An error about what was just read, which began at `offset`.
    static Error errorAt(std::size_t offset, std::string found, std::string expected = {})
    {
        return badInput("byte " + std::to_string(offset), std::move(found), std::move(expected));
    }

private:
    Error tooShort(std::uint64_t wanted, std::string_view what) const;

    std::span<const std::byte> m_bytes;
    std::size_t m_offset = 0;
};

} // namespace halftone
