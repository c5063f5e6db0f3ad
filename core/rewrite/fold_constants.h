#pragma once

#include "core/rewrite/rewrite.h"

namespace halftone::rewrite {

/// What depends on constants alone is computed (request.compute; nothing without it) and stored: parameters of the values' names, in
/// bodies and for outputs constants. Stay: what draws random numbers, makes codes of reals or reals of codes, is not computed here, or
/// would make the file larger by much. Parameters that a caller may replace (request.replaceable) are no constants.
/// fails: Cancelled
Result<Rewritten> foldConstants(const graph::Model &model, const RewriteRequest &request);

} // namespace halftone::rewrite
