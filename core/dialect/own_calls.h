#pragma once

#include "core/graph/graph.h"

#include <string_view>

namespace halftone::dialect {

/// Of a node that calls a function which its model holds: which. No file says it.
inline constexpr std::string_view kOwnCallKey = "calls own()";

/// Else a call is that of a library's operator, which a body stands for.
inline bool callsOwnFunction(const graph::NodeDef &node)
{
    return node.attributes.find(kOwnCallKey) != nullptr;
}

} // namespace halftone::dialect
