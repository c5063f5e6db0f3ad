#pragma once

#include "core/tensor/tensor.h"

/// Elements of 4 and 2 bits as ONNX stores them (TensorProto, raw_data): several in a byte, the first in its lowest bits.
namespace halftone::tensor {

/// The tensor of bytes as they are stored, which `owner` keeps alive. Elements that lie several in a byte are unpacked when they are
/// first read. Needs: as many bytes as the shape asks for
Tensor unpacked(DType type, Shape shape, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

} // namespace halftone::tensor
