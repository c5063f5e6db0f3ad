#pragma once

#include "core/kernels/backend.h"

#include <memory>

namespace halftone::backends::onednn {

/// QuantizeLinear and DequantizeLinear (ONNX operators, opset 13 and later) as they are defined: the quotient is that of float32, ties go to
/// even, NaN becomes code 0. oneDNN multiplies by the reciprocal, and the last bit of a quotient decides between two codes. Null for other
/// operators, and for codes that are neither 8 nor, to be decoded, 32 or fewer than 8 bits long.
/// threads  0: as many as there are cores
std::unique_ptr<kernels::Kernel> linearCodeLoop(const kernels::Operation &operation, int threads);

} // namespace halftone::backends::onednn
