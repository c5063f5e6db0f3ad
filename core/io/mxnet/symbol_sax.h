#pragma once

#include "core/base/result.h"
#include "core/io/mxnet/symbol_raw.h"

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::io {

/// Reads symbol JSON of every generation as far as its syntax and schema go
/// (core/io/mxnet/FORMATS.md, F-symbol): required and unknown keys, kinds of values, whole numbers where ids stand. `param`, `attrs` and `attr`
/// of a node are merged, of equal keys the later one counts. One pass without a tree; time and memory are
/// linear in the text, at most kDeepestJson brackets are followed. fails: with a byte offset for broken JSON,
/// with a JSON path ("nodes[17].inputs[0]") for what does not fit the schema; Cancelled.
Result<RawGraph> parseSymbol(std::string_view json, std::vector<std::string> &notes,
                             const std::stop_token &stop);

} // namespace halftone::io
