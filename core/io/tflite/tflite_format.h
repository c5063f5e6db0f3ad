#pragma once

#include "core/io/formats.h"

namespace halftone::io {

/// The row of TensorFlow Lite.
const ModelFormat &tfliteFormat();

} // namespace halftone::io
