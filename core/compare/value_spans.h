#pragma once

#include "core/tensor/tensor.h"

#include <algorithm>
#include <span>
#include <vector>

/// Internal to LayerCompare and KeptCompare.
namespace halftone::compare {

inline std::size_t bytesOf(std::span<const tensor::Tensor> values)
{
    std::size_t bytes = 0;
    for (const tensor::Tensor &value : values)
        bytes += value.bytes().size();
    return bytes;
}

/// Equal in number, types, shapes and bits.
inline bool areSame(std::span<const tensor::Tensor> a, std::span<const tensor::Tensor> b)
{
    return std::ranges::equal(a, b, [](const tensor::Tensor &x, const tensor::Tensor &y) {
        return x.shape() == y.shape() && x.dtype() == y.dtype() && std::ranges::equal(x.bytes(), y.bytes());
    });
}

inline std::vector<tensor::DType> typesOf(std::span<const tensor::Tensor> values)
{
    std::vector<tensor::DType> types;
    for (const tensor::Tensor &value : values)
        types.push_back(value.dtype());
    return types;
}

/// `lowered`, completed with the reference's values for hidden outputs that it lacks.
inline std::vector<tensor::Tensor> completed(std::vector<tensor::Tensor> lowered,
                                             std::span<const tensor::Tensor> outputs)
{
    for (std::size_t k = lowered.size(); k < outputs.size(); ++k)
        lowered.push_back(outputs[k]);
    return lowered;
}

} // namespace halftone::compare
