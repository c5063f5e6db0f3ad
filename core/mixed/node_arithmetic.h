#pragma once

#include "core/hardware/description.h"
#include "core/mixed/convert_model.h"

#include <optional>
#include <vector>

namespace halftone::mixed {

/// How a node of the source computes after the conversion.
struct NodeArithmetic
{
    std::optional<hardware::Unit> unit; ///< that computes it; nothing: none of its own
    tensor::DType compute = tensor::DType::
        Unknown; ///< what it reads its data in; Unknown: the node is gone, or nothing is known
    tensor::DType accumulate = tensor::DType::Unknown; ///< of its sums; where it makes none, as it computes
    tensor::DType output = tensor::DType::Unknown; ///< what its readers get
};

/// The unit that a node of a graph needs; nothing for what has none (hardware::unitOf), or is not known.
std::optional<hardware::Unit> unitOf(const graph::Graph &graph, graph::NodeId id);

/// The accumulator that products are asked for; Unknown: the chip's best.
tensor::DType askedAccumulator(const ConvertedModel &converted);

/// Of every node, by NodeId of the source (core/mixed/RULES.md, M-accumulate).
std::vector<NodeArithmetic> arithmeticOf(const graph::Graph &source, const ConvertedModel &converted);

/// Of one.
NodeArithmetic arithmeticOf(const graph::Graph &source, const ConvertedModel &converted, graph::NodeId id);

/// The accumulator that an operator of this unit uses when it computes in `type`.
/// chip   null: none is chosen
/// asked  of products; Unknown: nothing is asked for
tensor::DType accumulatorOf(hardware::Unit unit, tensor::DType type, const hardware::Description *chip,
                            tensor::DType asked);

} // namespace halftone::mixed
