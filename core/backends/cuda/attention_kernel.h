#pragma once

#include "core/backends/cuda/attention.h"
#include "core/backends/cuda/kernel_text.h"

#include <optional>

namespace halftone::backends::cuda {

/// Attention as one kernel of our own on tensor cores: a warp takes 16 queries and walks the keys 64 at a time, the sums of its softmax
/// being carried along (Dao, "FlashAttention-2", 2023). Scores and sums are float32, weights are rounded to the type of the values.
/// Arguments: queries, keys, values[, mask], result. For short sequences, where a library's kernel takes its time to begin.
/// arch     90 of sm_90
/// returns  nothing for other types, orders and sizes, for long sequences, and for chips without these instructions
std::optional<KernelText> attentionKernel(const AttentionDesc &desc, double scale, int arch);

} // namespace halftone::backends::cuda
