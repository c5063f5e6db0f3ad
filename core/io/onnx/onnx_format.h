#pragma once

#include "core/io/formats.h"

namespace halftone::io {

/// ONNX: one file, with large values in others beside it. In a build without protobuf its files are recognised, but not read.
const ModelFormat &onnxFormat();

} // namespace halftone::io
