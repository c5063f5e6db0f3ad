#pragma once

#include "core/base/json.h"
#include "core/graph/graph.h"
#include "core/mixed/type_census.h"

namespace halftone::results {

/// `verify --json`. graph  that the census is of; policy  what was wanted; null: nothing
OrderedJson verificationJson(const graph::Graph &graph, const mixed::TypeCensus &census,
                             const policy::Policy *policy);

} // namespace halftone::results
