#pragma once

#include "core/session/snapshot.h"

#include <QString>

namespace halftone::app {

/// The status line: "31 of 57 ops in bfloat16 · 6 casts (2 shared) · top-1 98.1 → 98.1 % · 3.1 → 1.9 ms (×0.61 ±0.02)".
/// What is stale stands in brackets.
QString summaryOf(const session::Snapshot &snapshot, const session::Figures &figures);

} // namespace halftone::app
