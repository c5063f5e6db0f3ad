#pragma once

#include "core/base/result.h"
#include "core/ops/op_sample.h"
#include "core/tensor/shape.h"

#include <cstddef>
#include <vector>

namespace halftone::ops {

/// One axis that Resize changes.
struct ResampledAxis
{
    std::size_t axis = 0;
    double scale = 1;
    double extent = 0; ///< of the output, a whole number
    double begin = 0; ///< of the region, in parts of the input
    double end = 1;
};

/// Needs: a complete shape. fails: numbers of values that do not agree, scales and sizes that make no shape
Result<std::vector<ResampledAxis>> resampledAxes(const Resize &op, const tensor::Shape &data);

} // namespace halftone::ops
