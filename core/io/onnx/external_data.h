#pragma once

#include "core/base/result.h"
#include "core/io/onnx/source.h"
#include "core/tensor/tensor.h"

#include <string>

namespace halftone::io::onnx {

/// The values of a tensor that lie in another file, mapped: only in regular files inside the model's folder after every
/// link is resolved, and only where offset and length lie inside the file and fit the tensor.
/// fails: BadInput otherwise, saying which of these does not hold.
Result<tensor::Tensor> readExternal(Source &source, const ::onnx::TensorProto &proto, tensor::DType type,
                                    tensor::Shape shape, const std::string &where);

} // namespace halftone::io::onnx
