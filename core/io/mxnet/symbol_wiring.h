#pragma once

#include "core/base/result.h"
#include "core/io/mxnet/symbol_raw.h"

#include <string>

namespace halftone::io {

/// Checks every id of one graph (not of its subgraphs): inputs and control dependencies point to nodes that
/// come before, so that there is neither a cycle nor a self input; heads point to nodes, arg_nodes to
/// variables; a variable has no inputs. `path` is put before the JSON path of an error
/// ("nodes[3].subgraphs[0]."). MXNet checks less and loads some of these with nonsense
/// (core/io/mxnet/FORMATS.md, F-wiring).
Result<void> checkWiring(const RawGraph &graph, const std::string &path);

/// "nodes[17]"
std::string nodePath(const std::string &path, std::size_t node);

} // namespace halftone::io
