#pragma once

#include "core/kernels/backend.h"
#include "core/ops/op_coded.h"

#include <array>
#include <cstdint>
#include <memory>

namespace halftone::backends::onednn {

/// Windows over tensors of codes whose channels lie last. Axes that a tensor lacks are 1.
struct AverageWindows
{
    std::int64_t pictures = 1;
    std::int64_t channels = 1;
    std::array<std::int64_t, 3> from{1, 1, 1};
    std::array<std::int64_t, 3> to{1, 1, 1};
    std::array<std::int64_t, 3> kernel{1, 1, 1};
    std::array<std::int64_t, 3> stride{1, 1, 1};
    std::array<std::int64_t, 3> padBegin{0, 0, 0};
    bool countsPadding = false; ///< as elements that stand for 0
};

/// Codes of the averages of what codes stand for. As DequantizeLinear, a pooling that rounds to float32 once,
/// and QuantizeLinear say, ties included.
/// needs  8-bit types
std::unique_ptr<kernels::Kernel> codeAverageKernel(const AverageWindows &windows, const ops::CodeScale &data,
                                                   const ops::CodeScale &result);

/// Codes of the products of what `first` and `second` stand for, each rounded to float32, as DequantizeLinear, Mul and
/// QuantizeLinear say. The channels lie last.
/// rows     of the first
/// repeats  how many rows of the first meet the same row of the second
std::unique_ptr<kernels::Kernel> codeMultiplyKernel(std::int64_t rows, std::int64_t channels,
                                                    std::int64_t repeats, const ops::CodedMultiply &scales);

} // namespace halftone::backends::onednn
