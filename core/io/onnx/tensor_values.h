#pragma once

#include "core/base/result.h"
#include "core/io/onnx/source.h"
#include "core/tensor/tensor.h"

#include <string>

namespace halftone::io::onnx {

/// The dimensions of a tensor. fails: a negative one, more than 64 of them, or more elements than can be counted.
Result<tensor::Shape> shapeOf(const ::onnx::TensorProto &proto, const std::string &where);

/// The values of a tensor: those in `source` are not copied, those in other files are mapped. A tensor of a type that we
/// cannot compute with comes back without values (unknown type), but checked.
/// where  names it in errors
/// fails  BadInput for values that don't go with shape and type, and for files that may not be read
Result<tensor::Tensor> readTensor(Source &source, const std::shared_ptr<Source> &owner,
                                  const ::onnx::TensorProto &proto, const std::string &where);

/// "float32[2,3]".
std::string summaryOf(const ::onnx::TensorProto &proto);

/// Shape and type of the values, and none of what the message said of any before.
void describeValues(const tensor::Tensor &values, ::onnx::TensorProto &proto);

/// The values as raw data, in the order of ONNX.
void writeValues(const tensor::Tensor &values, ::onnx::TensorProto &proto);

} // namespace halftone::io::onnx
