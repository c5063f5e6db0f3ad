#pragma once

#include "core/graph/graph.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

#include <vector>

namespace halftone::dialect::onnx {

/// What a graph that comes from no ONNX file says of its outputs, which a file must say. By head.
struct OutputFacts final : graph::FormatData
{
    struct Fact
    {
        tensor::DType type = tensor::DType::Unknown;
        tensor::Shape shape{}; ///< of known rank
    };
    std::vector<Fact> heads{};
};

} // namespace halftone::dialect::onnx
