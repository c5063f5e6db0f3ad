#pragma once

#include "core/backends/reference/matrix.h"
#include "core/kernels/backend.h"
#include "core/kernels/workers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halftone::backends::reference {

using DimSpan = std::span<const std::int64_t>;

/// Product of `dims` from `first` up to `end`.
inline std::size_t extent(DimSpan dims, std::size_t first, std::size_t end)
{
    std::size_t product = 1;
    for (std::size_t axis = first; axis < end; ++axis)
        product *= static_cast<std::size_t>(dims[axis]);
    return product;
}

inline std::size_t count(DimSpan dims)
{
    return extent(dims, 0, dims.size());
}

/// `axis` counted from the front; it lies within the rank, which shape inference has seen to.
inline std::size_t fromFront(std::int64_t axis, std::size_t rank)
{
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

/// What a kernel that computes works on: inputs widened to Real, outputs that are rounded to their types when it
/// returns. Shapes agree with the operator (ops::inferShapes has completed and accepted them).
template <class Real>
struct Arrays
{
    const kernels::Operation &operation;
    const kernels::Workers &workers;
    std::vector<const Real *> in;
    std::vector<Real *> out; ///< null for an output that nobody takes

    Summing summing() const { return {workers, operation.accumulator}; }
    DimSpan inDims(std::size_t i) const { return operation.inputs[i].shape.dims(); }
    DimSpan outDims(std::size_t i) const { return operation.outputs[i].shape.dims(); }
    std::size_t inCount(std::size_t i) const { return count(inDims(i)); }
    std::size_t outCount(std::size_t i) const { return count(outDims(i)); }
};

/// Zeros for the outputs from `first` on, which are scratch of another program's kernels.
template <class Real>
void clearScratch(const Arrays<Real> &arrays, std::size_t first)
{
    for (std::size_t i = first; i < arrays.out.size(); ++i) {
        if (arrays.out[i])
            std::fill_n(arrays.out[i], arrays.outCount(i), Real(0));
    }
}

/// What a kernel that only moves elements works on: bytes as they are stored.
struct RawArrays
{
    const kernels::Operation &operation;
    const kernels::Workers &workers;
    std::span<const std::byte *const> in;
    std::span<std::byte *const> out;

    DimSpan inDims(std::size_t i) const { return operation.inputs[i].shape.dims(); }
    DimSpan outDims(std::size_t i) const { return operation.outputs[i].shape.dims(); }
    std::size_t inCount(std::size_t i) const { return count(inDims(i)); }
    std::size_t outCount(std::size_t i) const { return count(outDims(i)); }
    std::size_t elementSize() const { return tensor::sizeOf(operation.outputs[0].dtype); }
};

} // namespace halftone::backends::reference
