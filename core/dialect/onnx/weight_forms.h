#pragma once

#include "core/dialect/weight_forms.h"

namespace halftone::dialect::onnx {

/// DequantizeLinear in blocks, and ONNX Runtime's operators on packed codes.
const WeightForms &weightForms();

} // namespace halftone::dialect::onnx
