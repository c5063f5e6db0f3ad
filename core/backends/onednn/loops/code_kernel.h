#pragma once

#include "core/kernels/backend.h"
#include "core/ops/op_fused.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace halftone::backends::onednn {

/// float32 values as codes of 8 bits, as QuantizeLinear says: round(x / step) + zero, ties to even, saturated. oneDNN adds the zero point
/// before it rounds, so that near a tie it gives another code.
/// needs  `scale.type` I8 or U8
std::unique_ptr<kernels::Kernel> codeKernel(std::size_t count, const ops::CodeScale &scale);

/// What codes of uint8 stand for: (code - zero) · scale.
struct DynamicCode
{
    float scale = 1;
    std::int32_t zero = 0;
};

/// That of values from `low` to `high`, which have 0 between them, as DynamicQuantizeLinear says.
DynamicCode dynamicCode(float low, float high);

/// The same as DynamicQuantizeLinear says, which finds the scale and the zero point of the values. Outputs: codes of uint8, scale, zero
/// point.
std::unique_ptr<kernels::Kernel> dynamicCodeKernel(std::size_t count);

} // namespace halftone::backends::onednn
