#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"

#include <cstdint>

namespace halftone::tensor {

/// What narrowing did to the values of a tensor.
struct CastReport
{
    std::uint64_t overflowed = 0; ///< finite values that became infinite
    std::uint64_t flushed = 0; ///< values other than zero that became zero
    std::uint64_t subnormal = 0; ///< results below the type's smallest normal number: fewer bits of precision
    std::uint64_t nan = 0; ///< NaN, which stays NaN

    CastReport &operator+=(const CastReport &other);
    bool operator==(const CastReport &) const = default;
};

/// `source` with elements of type `to`: each value exact, or rounded once to the nearest, ties to even. The
/// same type shares the bytes. Between float types, and from integers and bool to float types (integers
/// beyond 2^53 go by way of double). `report`, if not null, is set. fails: Errc::Unsupported for a target
/// type that is no float type.
Result<Tensor> castTo(const Tensor &source, DType to, CastReport *report = nullptr);

} // namespace halftone::tensor
