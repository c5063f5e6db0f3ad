#pragma once

#include "core/compare/value_keys.h"
#include "core/interpret/interpreter.h"

#include <cstddef>
#include <unordered_map>
#include <vector>

/// Internal to KeptCompare: what is computed, and what was.
namespace halftone::compare {

/// Outputs of nodes for one batch, by the computation that gives them.
using KeptValues = std::unordered_map<ValueKeys::Key, std::vector<tensor::Tensor>>;

/// The outputs of all nodes for the first batch.
struct KeptPlan
{
    std::vector<graph::NodeId> order; ///< nodes that the heads need, in topological order
    std::vector<ValueKeys::Key> keys; ///< by NodeId; 0 for nodes that no head needs
    std::vector<std::vector<tensor::DType>> types; ///< by NodeId, of its outputs
    std::vector<std::size_t> bytes; ///< by NodeId, of its outputs
    std::size_t allBytes = 0; ///< of nodes except variables
    std::size_t headBytes = 0;
    bool isOpen = false; ///< a shape depends on values
};

/// The plan of a model whose run was started with `feed`.
KeptPlan keptPlanOf(const graph::Model &model, const interpret::Execution &start, const interpret::Feed &feed,
                    ValueKeys &keys);

/// The largest sum of a node's inputs, outputs and parameters, in bytes.
std::size_t bytesAroundANode(const graph::Graph &graph, const KeptPlan &plan);

} // namespace halftone::compare
