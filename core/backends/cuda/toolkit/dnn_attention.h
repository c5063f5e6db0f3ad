#pragma once

#include "core/backends/cuda/attention.h"
#include "core/backends/cuda/toolkit/dnn_graph.h"

#include <string>

namespace halftone::backends::cuda {

/// Attention in the form that cuDNN's fused engines recognise; fed are queries, keys, values, the scale
/// (one float32)[, mask], result.
/// returns  its name. fails: Unsupported for what cuDNN does not take
Result<std::string> describeAttention(DnnGraph &graph, const AttentionDesc &desc);

} // namespace halftone::backends::cuda
