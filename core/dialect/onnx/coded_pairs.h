#pragma once

#include "core/dialect/coded_pairs.h"

namespace halftone::dialect::onnx {

/// QuantizeLinear and DequantizeLinear.
const CodedPairs &codedPairs();

} // namespace halftone::dialect::onnx
