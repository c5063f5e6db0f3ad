#include "core/kernels/buffer.h"

#include "core/base/checked_math.h"
#include "core/base/frugal_memory.h"
#include "core/base/huge_pages.h"
#include "core/base/memory.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

namespace halftone::kernels {

Result<std::size_t> checkedBytes(const TensorDesc &desc)
{
    const std::optional<std::int64_t> elements = desc.shape.elementCount();
    const auto bytes = elements
        ? checkedMultiply(*elements, static_cast<std::int64_t>(tensor::sizeOf(desc.dtype)))
        : std::nullopt;
    constexpr std::int64_t kMost = std::int64_t{1} << 46; // more than any machine has
    if (!bytes || *bytes > kMost)
        return noMemory("out of memory: a tensor of shape " + desc.shape.toString()
                        + " is too large to allocate");
    return static_cast<std::size_t>(*bytes);
}

Result<Buffer> allocate(const TensorDesc &desc)
{
    HALFTONE_TRY(const std::size_t size, checkedBytes(desc));
    const auto refusal = [&] { return outOfMemory(size, "a tensor of shape " + desc.shape.toString()); };
    if (size >= kLargeRequest && size > availableMemory())
        return refusal();
    if (FrugalMemory::wants(size)) {
        const std::shared_ptr<std::byte> pages = FrugalMemory::newPages(size);
        if (!pages)
            return refusal();
        wantHugePages(pages.get(), size);
        return Buffer{tensor::Tensor(desc.dtype, desc.shape, std::span(pages.get(), size), pages),
                      pages.get()};
    }
    // Aligned by hand: what aligned allocation frees, glibc before 2.38 does not find again for the same size, and a run
    // over a deep network would grow by what it has freed.
    const std::shared_ptr<std::byte[]> owner(new (std::nothrow) std::byte[size + kAlignment]);
    if (!owner)
        return refusal();
    const auto address = reinterpret_cast<std::uintptr_t>(owner.get());
    std::byte *const data = owner.get() + (kAlignment - address % kAlignment) % kAlignment;
    wantHugePages(data, size);
    return Buffer{tensor::Tensor(desc.dtype, desc.shape, std::span(data, size), owner), data};
}

Result<tensor::Tensor> readable(const tensor::Tensor &tensor)
{
    const std::size_t step
        = std::max(tensor::sizeOf(tensor.dtype()), std::size_t{1}); // an unknown type has no size
    if (reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % step == 0)
        return tensor;
    HALFTONE_TRY(const Buffer buffer, allocate(descOf(tensor)));
    if (!tensor.bytes().empty())
        std::memcpy(buffer.bytes, tensor.bytes().data(), tensor.bytes().size());
    return buffer.tensor;
}

Result<tensor::Tensor> converted(const tensor::Tensor &tensor, tensor::DType type)
{
    HALFTONE_TRY(const Buffer buffer, allocate({type, tensor.shape()}));
    tensor::convert(tensor.dtype(), tensor.bytes().data(), tensor.elementCount(), type, buffer.bytes);
    return buffer.tensor;
}

TensorDesc descOf(const tensor::Tensor &tensor)
{
    return {tensor.dtype(), tensor.shape()};
}

} // namespace halftone::kernels
