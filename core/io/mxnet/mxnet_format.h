#pragma once

#include "core/io/formats.h"

namespace halftone::io {

/// MXNet: a symbol in JSON with a file of parameters beside it (core/io/mxnet/FORMATS.md).
const ModelFormat &mxnetFormat();

} // namespace halftone::io
