#pragma once

#include "core/graph/graph.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

#include <vector>

namespace halftone::dialect::onnx {

/// What a graph says of its outputs: one that comes from no ONNX file what a file must say. By head.
struct OutputFacts : graph::FormatData
{
    struct Fact
    {
        tensor::DType type = tensor::DType::Unknown;
        tensor::Shape shape{}; ///< of one that comes from no file of known rank
    };
    std::vector<Fact> heads{};
};

} // namespace halftone::dialect::onnx
