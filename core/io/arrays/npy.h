#pragma once

#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

#include <string>
#include <string_view>

namespace halftone::io {

inline constexpr std::string_view kNpySuffix = ".npy"; ///< of an archive's entries
inline constexpr std::string_view kBfloat16Suffix = ":bf16"; ///< of keys (app/README.md, "Data")

/// The start of an `.npy` image, after which the values follow; bfloat16 is written as uint16.
std::string npyHeader(tensor::DType type, const tensor::Shape &shape);

} // namespace halftone::io
