#pragma once

#include "core/backends/onednn/dnnl_common.h"
#include "core/ops/op_speech.h"

#include <array>
#include <cstdint>
#include <memory>

namespace halftone::backends::onednn {

/// Attention over rows, and how its tensors lie.
struct AttentionRows
{
    ops::RowAttention op;
    std::int64_t batch = 1;
    std::int64_t queries = 1;
    std::int64_t keys = 1;
    std::array<std::int64_t, 3> strides{}; ///< elements from row to row of queries, keys and values
    std::array<std::int64_t, 4> mask{1, 1, 1, 1}; ///< its shape, each axis whole or 1
    Type type = Type::f32; ///< of all but the mask, which is float32
};

/// Computes head by head, some rows of the queries at once, so that their scores stay in the cache between the two products and the
/// softmax. Scores are float32. Inputs: queries, keys, values[, mask].
/// threads  0: as many as there are cores
/// fails    Unsupported where oneDNN lacks a product or softmax for it
Result<std::unique_ptr<kernels::Kernel>> rowAttentionKernel(const AttentionRows &rows, int threads);

} // namespace halftone::backends::onednn
