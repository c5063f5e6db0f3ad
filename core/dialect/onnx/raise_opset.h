#pragma once

#include "core/base/result.h"
#include "core/dialect/dialect.h"
#include "core/dialect/needed_version.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace halftone::dialect::onnx {

/// An attribute that is an input from an opset on. A node that was taken over keeps it as an attribute, called as the input is,
/// until it is written.
struct MovedAttribute
{
    std::string_view op;
    int until; ///< the first opset that has the input
    std::string_view attribute;
    std::string_view input;
    AttributeType type; ///< of the attribute that stands for the input
};
std::span<const MovedAttribute> movedAttributes();

/// The opset from which on those nodes take `target`: 13 for bfloat16 in sums and products, 16 in what runs a body, 22 in Conv, pooling,
/// normalization and recurrence (ONNX, Operators.md, the type constraints of each version). 1 for other types.
NeededVersion neededOpset(const graph::Graph &graph, tensor::DType target, const IsLowered &isLowered);

/// A graph of the opset `from` in the one that it needs: `wanted` at least (0: any), and one whose operators take `target`
/// where their lists let them. Nothing where `from` will do.
/// fails: BadCall (Field::Opset) for an opset that there is not; Unsupported for a node that means something else there
Result<std::optional<Raised>> raisedOpset(const graph::Graph &graph, int from, tensor::DType target,
                                          int wanted);

/// dialect::raisedParts() of a graph that raisedOpset() gave, perhaps in an earlier run.
std::vector<graph::NodeId> partsOfRaised(const graph::Graph &graph);

} // namespace halftone::dialect::onnx
