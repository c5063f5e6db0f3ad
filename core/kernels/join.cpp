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
                            "shapes that differ only in the first axis");
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

Result<Tensor> ownPart(const Tensor &value, const FilledBatch &batch)
{
    const Shape &shape = value.shape();
    if (!batch.isFilled() || shape.rank() == 0)
        return value;
    const auto all = static_cast<std::int64_t>(batch.all);
    if (shape[0] > 0 && shape[0] % all == 0)
        return sliceRows(value, 0, static_cast<std::size_t>(shape[0] / all) * batch.own);
    const auto dims = shape.dims();
    const auto place = std::ranges::find(dims, all);
    if (place == dims.end())
        return value;
    Shape taken = shape;
    taken[static_cast<std::size_t>(place - dims.begin())] = static_cast<std::int64_t>(batch.own);
    HALFTONE_TRY(const Buffer buffer, allocate({value.dtype(), taken}));
    std::size_t outer = 1;
    for (auto axis = dims.begin(); axis != place; ++axis)
        outer *= static_cast<std::size_t>(*axis);
    if (outer == 0 || value.bytes().empty())
        return buffer.tensor;
    const std::size_t from = value.bytes().size() / outer;
    const std::size_t to = from / batch.all * batch.own;
    for (std::size_t k = 0; k < outer; ++k)
        std::memcpy(buffer.bytes + k * to, value.bytes().data() + k * from, to);
    return buffer.tensor;
}

Result<Tensor> filledUp(const Tensor &tensor, std::size_t number)
{
    const auto rows = static_cast<std::size_t>(tensor.shape()[0]);
    std::vector<Tensor> parts{tensor};
    for (std::size_t k = rows; k < number; ++k)
        parts.push_back(sliceRows(tensor, rows - 1, 1));
    return joinRows(parts);
}

} // namespace halftone::kernels
