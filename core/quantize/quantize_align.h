#pragma once

#include "core/dialect/quantized_forms.h"
#include "core/graph/graph.h"

namespace halftone::quantize {

/// Gives the operators that only a quantized concatenation reads (also through pooling and other concatenations) one
/// range, the widest of theirs, so that it has no codes to rescale. What MXNet 1.9.1's backend does after quantization.
void alignConcatRanges(graph::Graph &graph, const dialect::QuantizedForms &forms);

} // namespace halftone::quantize
