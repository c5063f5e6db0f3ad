#pragma once

#include "core/base/result.h"
#include "core/tensor/cast_report.h"
#include "core/tensor/tensor.h"

namespace halftone::tensor {

/// `source` with elements of type `to`: each value exact, or rounded once to the nearest, ties to even. The
/// same type shares the bytes. Between float types, and from integers and bool to float types (integers
/// beyond 2^53 go by way of double). `report`, if not null, is set. fails: Errc::Unsupported for a target
/// type that is no float type.
Result<Tensor> castTo(const Tensor &source, DType to, CastReport *report = nullptr);

/// The same, but a large result is made when it is first read, of `source`, which it keeps. What it will have lost is in `report` at
/// once.
Result<Tensor> castLater(const Tensor &source, DType to, CastReport *report = nullptr);

/// As castTo(), but what is finite and beyond the type's range becomes the end of it. Needs: isFloat(to), a source of known type. A large
/// one is made when it is first read.
Tensor clampedTo(const Tensor &source, DType to);

/// A matrix with its columns as rows; a large one is made when it is first read. Needs: two axes, elements of whole bytes.
Tensor transposed(const Tensor &matrix);

} // namespace halftone::tensor
