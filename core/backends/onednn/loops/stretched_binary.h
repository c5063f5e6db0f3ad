#pragma once

#include "core/kernels/backend.h"
#include "core/ops/op_elementwise.h"
#include "core/tensor/dtype.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace halftone::backends::onednn {

/// An axis of a result that lies densely, the axes in the order of memory: its extent, and the step in elements of each side along it; 0 where the
/// side is stretched.
struct StretchedAxis
{
    std::int64_t count = 1;
    std::array<std::int64_t, 2> steps{};
};

/// Add, Sub, Mul, Div, Maximum or Minimum on two tensors of float types, one element after the other.
struct StretchedBinary
{
    ops::BinaryKind kind = ops::BinaryKind::Add;
    std::array<tensor::DType, 2> sides{};
    tensor::DType result = tensor::DType::F32;
    std::vector<StretchedAxis> axes;
};

/// A loop of our own that stretches both sides along any axes, computes in float32 and rounds once. The result may lie where a side lies that
/// is not stretched and has its type. Shared among OpenMP's threads.
std::unique_ptr<kernels::Kernel> stretchedBinaryKernel(StretchedBinary operation);

} // namespace halftone::backends::onednn
