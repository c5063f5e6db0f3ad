#pragma once

#include "core/tensor/dtype.h"

#include <string_view>

namespace halftone::tensor {

/// "f32", "f16", "b16", "i8", "i64", as badges and columns have them; "?" for a type that has none.
std::string_view shortNameOf(DType type);

} // namespace halftone::tensor
