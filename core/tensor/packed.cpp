#include "core/tensor/packed.h"

#include "core/tensor/low_bits.h"

#include <cassert>

namespace halftone::tensor {
namespace {

/// Needs: packedBits(type) > 0
std::size_t packedSize(DType type, std::size_t count)
{
    const auto inByte = static_cast<std::size_t>(8 / packedBits(type));
    return (count + inByte - 1) / inByte;
}

class UnpackedElements final : public DeferredElements
{
public:
    UnpackedElements(DType type, std::size_t count, std::span<const std::byte> packed,
                     std::shared_ptr<const void> owner)
        : DeferredElements(count)
        , m_type(type)
        , m_packed(packed)
        , m_owner(std::move(owner))
    {
    }

    std::span<const std::byte> packed() const override { return m_packed; }

protected:
    void make(std::size_t first, std::size_t count, std::byte *to) const override
    {
        return packedBits(m_type) == 4 ? unpack<4>(first, count, to) : unpack<2>(first, count, to);
    }

private:
    template <std::size_t kBits>
    void unpack(std::size_t first, std::size_t count, std::byte *to) const
    {
        constexpr std::size_t kInByte = 8 / kBits;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t at = first + i;
            to[i] = lowBits(m_type, m_packed[at / kInByte] >> at % kInByte * kBits);
        }
    }

    DType m_type;
    std::span<const std::byte> m_packed;
    std::shared_ptr<const void> m_owner;
};

} // namespace

Tensor unpacked(DType type, Shape shape, std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
{
    if (packedBits(type) == 0)
        return {type, std::move(shape), bytes, std::move(owner)};
    const auto count = static_cast<std::size_t>(shape.elementCount().value_or(0));
    assert(bytes.size() == packedSize(type, count));
    return {type, std::move(shape),
            std::make_shared<const UnpackedElements>(type, count, bytes, std::move(owner))};
}

std::size_t Tensor::storedBytes() const
{
    return packedBits(m_type) > 0 ? packedSize(m_type, elementCount()) : byteCount();
}

Tensor Tensor::stored() const
{
    const int bits = packedBits(m_type);
    if (bits == 0)
        return *this;
    const std::size_t size = packedSize(m_type, elementCount());
    Shape line{static_cast<std::int64_t>(size)};
    if (m_deferred && !m_deferred->packed().empty())
        return {DType::U8, std::move(line), m_deferred->packed(), m_deferred};
    const auto width = static_cast<std::size_t>(bits);
    const std::size_t inByte = 8 / width;
    const auto mask = static_cast<std::byte>((1U << bits) - 1);
    std::vector<std::byte> to(size);
    const std::span<const std::byte> elements = bytes();
    for (std::size_t i = 0; i < elements.size(); ++i)
        to[i / inByte] |= (elements[i] & mask) << i % inByte * width;
    return owning(DType::U8, std::move(line), std::move(to));
}

} // namespace halftone::tensor
