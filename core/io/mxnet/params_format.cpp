#include "core/io/mxnet/params_format.h"

#include <algorithm>
#include <optional>

namespace halftone::io::params {
namespace {

using tensor::Array;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

/// Index values as 64-bit numbers; nothing for a type that cannot index.
std::optional<std::vector<std::int64_t>> indexValues(const Tensor &tensor)
{
    if (tensor.dtype() == DType::I64)
        return tensor.values<std::int64_t>();
    if (tensor.dtype() != DType::I32)
        return std::nullopt;
    const std::vector<std::int32_t> narrow = tensor.values<std::int32_t>();
    return std::vector<std::int64_t>(narrow.begin(), narrow.end());
}

std::string wrongRowSparse(const Array &array, const std::vector<std::int64_t> &rows)
{
    const auto stored = array.values.shape().dims();
    const auto shape = array.shape.dims();
    if (shape.empty() || !std::ranges::equal(stored.subspan(1), shape.subspan(1)))
        return "stored shape " + array.values.shape().toString() + " does not fit the shape "
            + array.shape.toString();
    if (rows.size() != static_cast<std::size_t>(stored[0]))
        return std::to_string(rows.size()) + " row indices for " + std::to_string(stored[0]) + " stored rows";
    if (std::ranges::adjacent_find(rows, std::ranges::greater_equal()) != rows.end())
        return "row indices that do not ascend";
    if (!rows.empty() && (rows.front() < 0 || rows.back() >= shape[0]))
        return "a row index outside of 0 to " + std::to_string(shape[0] - 1);
    return {};
}

std::string wrongCsr(const Array &array, const std::vector<std::int64_t> &pointers,
                     const std::vector<std::int64_t> &columns)
{
    if (array.shape.rank() != 2)
        return "a csr array of shape " + array.shape.toString();
    const auto stored = static_cast<std::int64_t>(array.values.elementCount());
    if (pointers.empty() || static_cast<std::int64_t>(pointers.size() - 1) != array.shape[0])
        return std::to_string(pointers.size()) + " row pointers for " + std::to_string(array.shape[0])
            + " rows";
    if (pointers.front() != 0 || pointers.back() != stored || !std::ranges::is_sorted(pointers))
        return "row pointers that do not rise from 0 to the " + std::to_string(stored) + " stored values";
    if (static_cast<std::int64_t>(columns.size()) != stored)
        return std::to_string(columns.size()) + " columns for " + std::to_string(stored) + " stored values";
    if (std::ranges::any_of(columns,
                            [&](std::int64_t column) { return column < 0 || column >= array.shape[1]; }))
        return "a column outside of 0 to " + std::to_string(array.shape[1] - 1);
    return {};
}

} // namespace

std::string wrongSparse(const Array &array)
{
    if (array.values.shape().rank() == 0)
        return "stored values without a shape";
    std::vector<std::vector<std::int64_t>> indices;
    for (const Tensor &index : array.indices) {
        auto values = indexValues(index);
        if (!values || index.shape().rank() != 1)
            return "indices of type " + std::string(nameOf(index.dtype())) + " and shape "
                + index.shape().toString() + " (int64 or int32 of rank 1 can be read)";
        indices.push_back(std::move(*values));
    }
    return array.storage == tensor::Storage::Csr ? wrongCsr(array, indices[0], indices[1])
                                                 : wrongRowSparse(array, indices[0]);
}

} // namespace halftone::io::params
