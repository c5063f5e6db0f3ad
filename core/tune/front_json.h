#pragma once

#include "core/base/json.h"
#include "core/tune/search.h"

#include <string>
#include <vector>

namespace halftone::tune {

/// A front as `tune --out` writes it: `points` (those offered, from the least error on), `measured` (all others that were measured),
/// `groups`, `refused` (nodes that the runtime has no kernel for), `evaluations`, `passes`, `kappa`, `lower_bound_gap`, `seconds`, `errors_seconds`, `stopped_by` (app/README.md, `tune`).
/// policies  the file of each point's policy, by point; empty texts: none
/// target    as people call the 16-bit type
OrderedJson frontJson(const Front &front, const std::vector<std::string> &policies,
                      const std::optional<Limit> &limit, std::string_view target);

} // namespace halftone::tune
