#pragma once

#include "core/graph/graph.h"

namespace halftone::passes {

/// Gives the operators that only a quantized concatenation reads (also through pooling and other concatenations) one
/// range, the widest of theirs, so that it has no codes to rescale. What MXNet 1.9.1's backend does after quantization.
void alignConcatRanges(graph::Graph &graph);

} // namespace halftone::passes
