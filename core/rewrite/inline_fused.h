#pragma once

#include "core/graph/graph.h"

namespace halftone::rewrite {

/// Fused operators on reals (`_sg_mkldnn_conv` and its kin where they are not quantized) give way to their bodies, whose
/// nodes keep their names. What is on codes, and what has a body that does not fit it, stays.
graph::Graph inlineFused(const graph::Graph &graph);

} // namespace halftone::rewrite
