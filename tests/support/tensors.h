#pragma once

#include "core/tensor/convert.h"
#include "core/tensor/elements.h"
#include "core/tensor/tensor.h"

#include <utility>
#include <vector>

namespace halftone::test {

inline std::vector<double> valuesOf(const tensor::Tensor &tensor)
{
    std::vector<double> values(tensor.elementCount());
    tensor::widen(tensor.dtype(), tensor.bytes().data(), values.size(), values.data());
    return values;
}

/// The same values in another type.
inline tensor::Tensor converted(const tensor::Tensor &source, tensor::DType type)
{
    std::vector<std::byte> bytes(source.elementCount() * tensor::sizeOf(type));
    tensor::convert(source.dtype(), source.bytes().data(), source.elementCount(), type, bytes.data());
    return tensor::Tensor::owning(type, source.shape(), std::move(bytes));
}

} // namespace halftone::test
