#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/infer/infer_shapes.h"
#include "core/io/model_io.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

#include <map>
#include <string>
#include <vector>

namespace halftone::session {

/// A model in the format of the files that it will be written to: as it is, or translated. One that nothing translates to that format stays as it
/// is, and cannot be written.
/// shapes, types  of its inputs, as far as they were told
/// fails          Unsupported for what that format has no counterpart of
Result<graph::Model> inFormatOf(const io::ModelOutput &output, const graph::Model &model,
                                const infer::KnownShapes &shapes,
                                const std::map<std::string, tensor::DType> &types);

/// The formats that a model can be written in: its own first, then those that it can be translated to.
std::vector<const io::ModelFormat *> formatsFor(const graph::Graph &graph);

/// The types of the outputs of a model, for a format whose files declare them; Unknown where they do not follow. Empty for other formats.
std::vector<tensor::DType> writtenTypes(const io::ModelFormat &format, const graph::Model &model);

} // namespace halftone::session
