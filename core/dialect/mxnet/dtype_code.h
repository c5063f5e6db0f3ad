#pragma once

#include "core/tensor/dtype.h"

#include <cstdint>
#include <optional>

namespace halftone::dialect::mxnet {

/// MXNet's type codes, as in params files and in `__dtype__` (core/io/mxnet/FORMATS.md, F-dtypes).
std::optional<tensor::DType> dtypeOfCode(std::int64_t code);
/// The code of a type; -1 for DType::Unknown.
std::int32_t codeOf(tensor::DType type);

} // namespace halftone::dialect::mxnet
