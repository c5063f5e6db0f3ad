#pragma once

#include "core/io/mxnet/symbol_raw.h"

#include <cstdint>

namespace halftone::io {

/// Versions count as MXNet stores them: 10000 × major + 100 × minor + patch.
inline constexpr std::int64_t kCurrentVersion = 10901;
inline constexpr std::int64_t kUnmarkedVersion = 800; ///< what a file without a version is

/// Brings a graph that `version` wrote to the current form, as MXNet does on load
/// (core/io/mxnet/FORMATS.md, F-upgrades):
/// 1. before the current version: bare `lr_mult`, `ctx_group`, … become hidden keys, `<input>_lr_mult` goes
/// to that input's variable;
/// 2. before 0.9.0: missing trailing inputs are made as variables `<node>_<input>` (node ids shift);
/// 3. before 0.9.4: variables of BatchNorm's statistics and PReLU's slope get their `__init__`;
/// 4. before 0.9.5: argmax and argmin lose `axis=-1`.
/// needs: checkWiring(), and RawNode::op set. Subgraphs are left alone (none is that old).
void upgrade(RawGraph &graph, std::int64_t version);

} // namespace halftone::io
