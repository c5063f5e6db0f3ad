#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/io/model_io.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::session {

/// A model in the format of the files that it will be written to: as it is, or translated.
/// shapes, types  of its inputs, as far as they were told
/// fails          Unsupported for what that format has no counterpart of
Result<graph::Model> inFormatOf(const io::ModelOutput &output, const graph::Model &model,
                                const std::unordered_map<std::string, tensor::Shape> &shapes,
                                const std::map<std::string, tensor::DType> &types);

/// The types that a model's outputs come in, which an ONNX file has to say; Unknown where they do not follow.
std::vector<tensor::DType> outputTypes(const graph::Model &model);

} // namespace halftone::session
