#pragma once

#include "core/graph/graph.h"
#include "core/tensor/dtype.h"

#include <functional>
#include <string>

namespace halftone::dialect {

/// Does the node of the graph, or of a body in it, compute in the 16-bit type that is asked for?
using IsLowered = std::function<bool(const graph::Graph &, graph::NodeId)>;

/// A version of a format and a phrase that says what needs it, as dialect::Raised has it.
struct NeededVersion
{
    int number = 0; ///< 0: the format counts none
    std::string why;
};

/// The version from which on those nodes take the 16-bit type. Dialect::raised() asks for the version that all operators need which
/// their lists let compute in it; this one tells whether it has to be that, once it is known which do.
NeededVersion neededVersion(const graph::Graph &graph, tensor::DType target, const IsLowered &isLowered);

} // namespace halftone::dialect
