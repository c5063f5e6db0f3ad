#pragma once

#include "core/kernels/workers.h"
#include "core/tensor/dtype.h"

#include <cstddef>
#include <functional>

namespace halftone::backends::reference {

/// A matrix in memory: element (r, c) is at[r · rowStride + c · columnStride].
template <class Real>
struct MatrixView
{
    Real *at = nullptr;
    std::ptrdiff_t rowStride = 0;
    std::ptrdiff_t columnStride = 1;
};

/// Who multiplies, and how sums are kept.
struct Summing
{
    const kernels::Workers &workers;
    /// F16 or BF16: every sum is rounded to it when a product was added. Otherwise they are as wide as the numbers.
    tensor::DType accumulator = tensor::DType::Unknown;
};

/// Columns of the right operand that are multiplied at a time.
inline constexpr std::size_t kPanelColumns = 32;

/// Writes columns [first, first + kPanelColumns) of the right operand, row after row, zeros beyond its last column.
template <class Real>
using PackPanel = std::function<void(std::size_t first, Real *panel)>;

/// out = left · right, and then bias[row] added where there is one: `rows` × `depth` by `depth` × `columns`, the right
/// operand panel by panel. Products of a sum are added in the order of the depth.
template <class Real>
void multiply(const Summing &summing, std::size_t rows, std::size_t depth, std::size_t columns,
              MatrixView<const Real> left, const PackPanel<Real> &right, const Real *bias,
              MatrixView<Real> out);

/// The same with the right operand in memory.
template <class Real>
void multiply(const Summing &summing, std::size_t rows, std::size_t depth, std::size_t columns,
              MatrixView<const Real> left, MatrixView<const Real> right, const Real *bias,
              MatrixView<Real> out);

} // namespace halftone::backends::reference
