#pragma once

#include "core/dialect/dialect.h"
#include "core/graph/graph.h"
#include "core/ops/operator.h"

namespace halftone::layout {

/// The typed form of a node, fields that depend on input values left unset; ops::Opaque where it cannot be read.
/// Needs: a graph with a dialect
inline ops::Operator kindOf(const graph::Graph &graph, graph::NodeId id)
{
    const Result<ops::Operator> kind = dialect::of(graph).readKind(graph.node(id));
    return kind.ok() ? kind.value() : ops::Operator();
}

} // namespace halftone::layout
