#pragma once

#include "core/graph/graph.h"

#include <cstdint>

namespace halftone::dialect {

/// What an input of a graph that has a value of its own is to whoever runs the model.
enum class DefaultValue : std::uint8_t
{
    None, ///< it has none, or the format has no such inputs
    Listed, ///< a parameter that the file lists among its inputs, as old ones list all
    Overridable ///< one in whose place other values may be fed: its type is part of how the model is called
};

DefaultValue defaultValueOf(const graph::Graph &graph, graph::NodeId id);

inline bool isOverridable(const graph::Graph &graph, graph::NodeId id)
{
    return defaultValueOf(graph, id) == DefaultValue::Overridable;
}

} // namespace halftone::dialect
