#pragma once

#include "core/graph/graph.h"

#include <string>
#include <string_view>

namespace halftone::dialect::mxnet {

/// May two equal nodes of this operator become one? Not when it draws random numbers, keeps state or writes
/// to an input (resources/oplists/cse_never_merge.json; core/mixed/RULES.md, M-share), and not when the
/// operator is unknown.
bool mayMerge(std::string_view op);

/// A node's attributes in a form that is equal exactly when they mean the same: values parsed, defaults
/// filled in, hidden keys left out but for
/// `__ctx_group__` and `__amp_dtype__`, which nodes must share to become one.
std::string attributeKey(const graph::NodeDef &node);

} // namespace halftone::dialect::mxnet
