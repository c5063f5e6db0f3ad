#pragma once

#include "core/rewrite/rewrite.h"

namespace halftone::rewrite {

/// The model in a version of its format of at least request.number, nodes as that version says them (dialect::Dialect::raised()).
/// fails: BadCall for a version that there is not; Unsupported for a format without versions, and for a node that the newer one cannot
///        say (where = its name)
Result<Rewritten> raiseVersion(const graph::Model &model, const RewriteRequest &request);

} // namespace halftone::rewrite
