#pragma once

#include "core/io/model_io.h"

namespace halftone::io {

/// loadModel() for the bytes of a model file.
/// path  named by errors; its folder holds the files beside the model. Empty: there are none
Result<LoadedModel> readModel(std::vector<std::byte> bytes, const std::string &path,
                              const LoadOptions &options = {});

/// What saveModel() writes, if that is one file.
/// fails: Unsupported for a format with several files, or a model that is too large for one
Result<std::vector<std::byte>> modelBytes(const graph::Model &model,
                                          std::span<const tensor::DType> outputTypes = {});

} // namespace halftone::io
