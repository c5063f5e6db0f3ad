#pragma once

#include "core/session/snapshot.h"

#include <QString>

namespace halftone::widgets {

/// A Python program that converts the model as the policy asks, with the converter of its format (mxnet_call.h, onnx_call.h). Empty for a format
/// without one.
QString pythonCall(const session::Snapshot &snapshot);

} // namespace halftone::widgets
