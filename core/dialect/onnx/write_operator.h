#pragma once

#include "core/dialect/dialect.h"

namespace halftone::dialect::onnx {

/// The inverse of reading for convolutions, fully connected layers, and the sum and product of two tensors, which networks that measure a machine
/// are made of. (Whole models of other formats are translated by core/translate, which knows shapes.)
/// fails: Unsupported for other operators
Result<OperatorText> writeOperator(const ops::Operator &op);

} // namespace halftone::dialect::onnx
