#pragma once

#include "core/graph/model.h"
#include "core/ops/operator.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace halftone::patterns {

using NodeIndex = std::uint32_t;
using ValueIndex = std::uint32_t;
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// What the function of a call computes, where it is part of a unit.
struct CallFacts
{
    enum class Norm : std::uint8_t
    {
        None,
        Rms,
        Centred
    };
    bool attends = false; ///< holds an attention of its first inputs
    bool multiplies = false; ///< its first input with a matrix that the others stand for
    Norm norm = Norm::None; ///< the first output is that, of its first input or of a sum
    std::optional<std::size_t>
        sum{}; ///< it normalises the sum of its first two inputs, which is that output; 0: only the norm is given

    bool operator==(const CallFacts &) const = default;
};

/// What recognisers look at, be it of a model's graph or of a latency plan: typed operators in topological order and the
/// values between them.
struct Network
{
    struct Node
    {
        ops::Operator op;
        std::vector<ValueIndex> inputs{};
        std::vector<ValueIndex> outputs{};
        std::optional<CallFacts> call{}; ///< of a node that calls a function
        bool isKindOnly = false; ///< fields of `op` that inputs' values give are not known
    };

    struct Value
    {
        NodeIndex producer = kNone; ///< kNone: fed, or a constant that no node holds
        bool isFixed = false; ///< a parameter or constant
        bool isOutput = false; ///< of the whole
        std::optional<double> scalar{}; ///< of a constant of one element
        tensor::Shape shape{}; ///< as far as known
    };

    std::vector<Node> nodes;
    std::vector<Value> values;
    std::vector<std::vector<NodeIndex>> readers; ///< by ValueIndex, a node once for every input

    /// Fills producer and readers from the nodes.
    void connect();
};

/// The one number in a constant of one element, if it is a float or an integer.
std::optional<double> scalarOf(const tensor::Tensor &tensor);

/// Nodes are those of the graph, by NodeId; variables are nodes without an operator. Needs: the graph has a dialect or no
/// nodes. Operators that cannot be read are Opaque.
Network networkOf(const graph::Model &model);

} // namespace halftone::patterns
