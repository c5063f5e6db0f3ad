#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/layout/shown_graph.h"
#include "core/session/snapshot.h"

#include <string>

namespace halftone::session {

/// The source's graph, coloured by the precision that the conversion gave; as an <svg> element.
/// isFolded  blocks are folded as the window first shows them
/// fails: Cancelled
Result<std::string> graphPicture(const Snapshot &snapshot, const Progress &progress = {},
                                 bool isFolded = true, layout::Detail detail = layout::Detail::Computed);

} // namespace halftone::session
