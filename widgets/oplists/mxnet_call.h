#pragma once

#include "core/session/snapshot.h"

#include <QString>

namespace halftone::widgets {

/// A Python program that does with MXNet 1.9.1 what the policy asks for: `amp.convert_model(...)` on the model's files.
/// Lists that are MXNet's own are left out, patterns are written out as names, and what only Halftone can do (a node held
/// to the target type, an operator moved into or out of the widest list) is replaced by exclusions where these mean the
/// same, or else said in a comment.
QString mxnetCall(const session::Snapshot &snapshot);

} // namespace halftone::widgets
