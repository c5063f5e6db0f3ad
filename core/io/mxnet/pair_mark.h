#pragma once

#include "core/base/xxh64.h"
#include "core/graph/graph.h"

#include <optional>
#include <string>

namespace halftone::io {

/// What ties a symbol to the parameter file that was written with it: in the symbol's own "attrs", which MXNet reads and
/// leaves alone, `"halftone_params": ["str", "xxh64:…"]` with the hash of the parameter file's bytes. Either file alone can
/// be what another run left; both together show it. MXNet drops the mark when it writes the symbol anew (F-pair).
///
/// The mark of a parameter file with these bytes.
std::string pairMark(const Xxh64 &parameterFile);

/// `graph` with the mark, or without one.
graph::Graph withPairMark(const graph::Graph &graph, const std::optional<std::string> &mark);

/// Takes the mark off a graph that was read; nothing where there is none, or one of a kind that this version does not know.
std::optional<std::string> takePairMark(graph::Graph &graph);

} // namespace halftone::io
