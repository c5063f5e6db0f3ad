#include "core/tensor/tensor.h"

#include <cassert>
#include <cstring>

namespace halftone::tensor {

Tensor::Tensor(DType type, Shape shape, std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
    : m_type(type)
    , m_shape(std::move(shape))
    , m_bytes(bytes)
    , m_owner(std::move(owner))
{
    assert(m_shape.elementCount()
           && static_cast<std::size_t>(*m_shape.elementCount()) * sizeOf(type) == bytes.size());
}

Tensor::Tensor(DType type, Shape shape, std::shared_ptr<const DeferredElements> elements)
    : m_type(type)
    , m_shape(std::move(shape))
    , m_deferred(std::move(elements))
{
    assert(m_shape.elementCount()
           && static_cast<std::size_t>(*m_shape.elementCount()) * sizeOf(type) == m_deferred->size());
}

Tensor Tensor::owning(DType type, Shape shape, std::vector<std::byte> bytes)
{
    const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    return {type, std::move(shape), std::span(*owner), owner};
}

std::size_t Tensor::elementCount() const
{
    const std::size_t size = sizeOf(m_type);
    return size == 0 ? 0 : byteCount() / size;
}

template <class T>
std::vector<T> Tensor::values() const
{
    assert(sizeof(T) == sizeOf(m_type));
    std::vector<T> out(elementCount());
    if (!out.empty())
        std::memcpy(out.data(), bytes().data(), byteCount());
    return out;
}

template std::vector<float> Tensor::values() const;
template std::vector<double> Tensor::values() const;
template std::vector<std::int8_t> Tensor::values() const;
template std::vector<std::uint8_t> Tensor::values() const;
template std::vector<std::int16_t> Tensor::values() const;
template std::vector<std::uint16_t> Tensor::values() const;
template std::vector<std::int32_t> Tensor::values() const;
template std::vector<std::uint32_t> Tensor::values() const;
template std::vector<std::int64_t> Tensor::values() const;
template std::vector<std::uint64_t> Tensor::values() const;

} // namespace halftone::tensor
