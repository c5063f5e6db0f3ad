#pragma once

#include "core/ops/op_elementwise.h"

#include <string_view>

namespace halftone::backends::cuda {

/// What functions of elements are in CUDA C++: $ and @ stand for the arguments, N(…) for a number of the type that is computed in.
/// Values and special cases are those of the reference kernels. Empty for what kernels do not compute.
std::string_view floatPattern(ops::UnaryKind kind);
std::string_view integerPattern(ops::UnaryKind kind);
std::string_view binaryPattern(ops::BinaryKind kind, bool isFloat);

} // namespace halftone::backends::cuda
