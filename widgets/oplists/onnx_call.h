#pragma once

#include "core/session/snapshot.h"

#include <QString>

namespace halftone::widgets {

/// A Python program that does with the ONNX file what the policy asks for: onnxconverter-common's
/// `convert_float_to_float16(...)` with the operators and nodes that compute in float32 blocked, where its arguments can say
/// it; else a call of Halftone's command line with the policy written out.
QString onnxCall(const session::Snapshot &snapshot);

} // namespace halftone::widgets
