#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"

#include <limits>
#include <vector>

namespace halftone::dialect::mxnet {

/// How the inputs of a node with subgraphs reach the variables of one of its bodies.
struct BodyBinding
{
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    std::size_t subgraph = 0; ///< which body
    std::vector<graph::NodeId> variables; ///< of the body, in its order
    std::vector<std::uint32_t> inputs; ///< for each: the input of the node that it stands for; kNone: none does
    bool givesOutputs = true; ///< its heads are the node's outputs, in order (not so for a loop's condition)
};

/// The bindings of control flow (`_foreach`, `_while_loop`, `_cond`: by their location attributes) and of fused operators (one body, whose
/// variables stand for the inputs in order). Empty for a node without bodies.
/// fails: BadInput for locations that do not fit the bodies (where = the node's name).
Result<std::vector<BodyBinding>> bindBodies(const graph::NodeDef &node, std::size_t inputCount);

} // namespace halftone::dialect::mxnet
