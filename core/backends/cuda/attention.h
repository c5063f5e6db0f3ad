#pragma once

#include "core/backends/cuda/product.h"
#include "core/backends/cuda/view.h"

#include <optional>

namespace halftone::backends::cuda {

/// softmax(queries · keysᵀ · scale + mask) · values, head by head, as one step. All views are (N, heads, T, size).
struct AttentionDesc
{
    View queries;
    View keys;
    View values;
    std::optional<View> mask{}; ///< (N, heads, queries, keys), added; repeats where its stride is 0
    View result;
};

Work workOf(const AttentionDesc &desc);

} // namespace halftone::backends::cuda
