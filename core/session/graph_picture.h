#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/session/snapshot.h"

#include <string>

namespace halftone::session {

/// The source's graph, blocks folded as the window first shows them, coloured by the precision that the conversion gave;
/// as an <svg> element. fails: Cancelled
Result<std::string> graphPicture(const Snapshot &snapshot, const Progress &progress = {});

} // namespace halftone::session
