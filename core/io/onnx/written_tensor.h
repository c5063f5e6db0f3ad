#pragma once

#include "core/io/onnx/source.h"
#include "core/tensor/tensor.h"

#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>

/// Tensors on their way back into messages.
namespace halftone::io::onnx {

/// Values of large initializers of the main graph, which are not put into their messages.
struct ApartValues
{
    tensor::Tensor values; ///< as they are stored
    std::span<const std::byte> mapped; ///< of a type that is only passed on

    std::size_t size() const { return values.byteCount() + mapped.size(); }
};
using ValuesApart = std::unordered_map<const ::onnx::TensorProto *, ApartValues>;

/// Does the message have these very values, as raw data? Then it is copied with all that it has besides.
bool holds(const Source &source, const ::onnx::TensorProto &proto, const tensor::Tensor &values);

/// The message with its values inside, wherever the file that it was read from has them.
void copyWithValues(const Source &source, const ::onnx::TensorProto &from, ::onnx::TensorProto &to);

/// source, from  what the tensor was read from, or null
/// apart         gets values that are large, where it is not null
void writeTensor(const Source *source, const ::onnx::TensorProto *from, const tensor::Tensor &values,
                 ::onnx::TensorProto &to, ValuesApart *apart = nullptr);

/// Rounds the values of a sparse initializer, which no conversion has in its hands, to the type that its readers were given; of other types than
/// floats it stays.
void giveType(std::optional<tensor::DType> type, ::onnx::TensorProto &values);

} // namespace halftone::io::onnx
