#pragma once

#include "core/base/result.h"
#include "core/io/onnx/source.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <string>
#include <vector>

/// Sparse tensors (onnx.proto: SparseTensorProto): some elements with their places, all others 0.
namespace halftone::io::onnx {

struct SparseValues
{
    /// All elements, made when somebody reads them; of an unknown type where they would take more than a GiB or cannot be computed
    /// with.
    tensor::Tensor dense;
    std::vector<std::int64_t> places; ///< of the stored elements, in row-major order of all
};

/// where  names it in errors
/// fails  BadInput for places that the shape does not have, and for another number of them than of values
Result<SparseValues> readSparse(Source &source, const std::shared_ptr<Source> &owner,
                                const ::onnx::SparseTensorProto &proto, const std::string &where);

/// "float32[2,3]".
std::string summaryOf(const ::onnx::SparseTensorProto &proto);

/// Puts what `dense` has at those places into the message. Says whether it could: false where there is something else than 0
/// elsewhere.
bool writeSparse(const tensor::Tensor &dense, const std::vector<std::int64_t> &places,
                 ::onnx::SparseTensorProto &proto);

} // namespace halftone::io::onnx
