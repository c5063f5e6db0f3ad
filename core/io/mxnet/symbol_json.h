#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::io {

/// Reads an MXNet symbol of any generation (core/io/mxnet/FORMATS.md, F-symbol): checks what MXNet checks and
/// what it forgets (bad ids, cycles, self inputs, output indices, input counts), upgrades old versions, gives
/// operators their canonical names. Unknown operators are kept whole. What is odd but readable goes to
/// `notes`, a line each. Time and memory are linear in the text. fails: BadInput with a JSON path or a byte
/// offset; Cancelled.
Result<graph::Graph> readSymbol(std::string_view json, std::vector<std::string> &notes,
                                const std::stop_token &stop = {});

/// Of a parameter file without a symbol: no nodes, and MXNet's names.
graph::Graph emptySymbol();

/// The graph as MXNet 1.9.1 writes it, line breaks included. A stored version above 1.9.1's and other
/// metadata are kept.
std::string writeSymbol(const graph::Graph &graph);

} // namespace halftone::io
