#pragma once

#include "core/backends/reference/kernels.h"

#include <cstdint>

/// What is defined on integers alone is computed in them: exact where doubles are not, and wrapping around.
namespace halftone::backends::reference {

/// Whether the operator is defined on integers, as sums are and square roots are not. What MXNet computes by way of real
/// numbers (powers, remainders) is not.
bool hasIntegerForm(const ops::Operator &op);

/// `value` as an element of an integer type holds it.
std::int64_t storedInteger(double value, tensor::DType type);

// clang-format off
template <> Result<void> compute(const ops::Unary &, const Arrays<std::int64_t> &);
template <> Result<void> compute(const ops::Binary &, const Arrays<std::int64_t> &);
template <> Result<void> compute(const ops::ScalarBinary &, const Arrays<std::int64_t> &);
template <> Result<void> compute(const ops::Reduce &, const Arrays<std::int64_t> &);
template <> Result<void> compute(const ops::CumSum &, const Arrays<std::int64_t> &);
extern template Result<void> compute(const ops::ArgReduce &, const Arrays<std::int64_t> &);
extern template Result<void> compute(const ops::TopK &, const Arrays<std::int64_t> &);
extern template Result<void> compute(const ops::Sort &, const Arrays<std::int64_t> &);
extern template Result<void> compute(const ops::ArgSort &, const Arrays<std::int64_t> &);
// clang-format on

} // namespace halftone::backends::reference
