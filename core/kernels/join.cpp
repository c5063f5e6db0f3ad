#include "core/kernels/join.h"

#include "core/kernels/buffer.h"

#include <algorithm>
#include <cstring>

namespace halftone::kernels {

using tensor::Shape;
using tensor::Tensor;

Tensor sliceRows(const Tensor &tensor, std::size_t first, std::size_t number)
{
    std::vector<std::int64_t> dims(tensor.shape().dims().begin(), tensor.shape().dims().end());
    const auto rows = static_cast<std::size_t>(dims[0]);
    const std::size_t size = rows == 0 ? 0 : tensor.bytes().size() / rows;
    const std::size_t begin = std::min(first, rows);
    const std::size_t taken = std::min(number, rows - begin);
    dims[0] = static_cast<std::int64_t>(taken);
    return {tensor.dtype(), Shape(std::move(dims)), tensor.bytes().subspan(begin * size, taken * size),
            std::make_shared<const Tensor>(tensor)};
}

Result<Tensor> joinRows(std::span<const Tensor> tensors)
{
    if (tensors.size() == 1)
        return tensors.front();
    if (tensors.empty() || tensors.front().shape().rank() == 0)
        return badInput({}, "tensors without rows");
    Shape shape = tensors.front().shape();
    shape[0] = 0;
    for (const Tensor &tensor : tensors) {
        Shape expected = tensor.shape();
        if (expected.rank() == shape.rank())
            expected[0] = shape[0];
        if (tensor.dtype() != tensors.front().dtype() || expected != shape)
            return badInput({}, tensor.shape().toString() + " and " + tensors.front().shape().toString(),
                            "shapes that differ in the first axis alone");
        shape[0] += tensor.shape()[0];
    }
    HALFTONE_TRY(const Buffer buffer, allocate({tensors.front().dtype(), shape}));
    std::byte *to = buffer.bytes;
    for (const Tensor &tensor : tensors) {
        if (!tensor.bytes().empty())
            std::memcpy(to, tensor.bytes().data(), tensor.bytes().size());
        to += tensor.bytes().size();
    }
    return buffer.tensor;
}

} // namespace halftone::kernels
