#pragma once

#include "core/rewrite/conversion.h"

namespace halftone::test {

/// The graph that the log of a conversion makes of its source: casts folded, nodes merged, casts inserted, parameters
/// marked, bodies replaced. Reads the log alone: of the converted graph only the names of inserted nodes are taken.
graph::Graph replay(const graph::Graph &source, const rewrite::Conversion &log);

/// What tells two graphs apart, as graph_text's difference(), and stricter: versions, control dependencies and whole
/// bodies count. Names have to be unique.
std::string exactDifference(const graph::Graph &got, const graph::Graph &want);

} // namespace halftone::test
