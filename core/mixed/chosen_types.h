#pragma once

#include "core/infer/node_types.h"

#include <span>

namespace halftone::mixed {

/// NodeTypes::apply() for types that a conversion chooses: an operator may allow fewer of those (dialect::ConvertedTypes, M-typed-runs).
ops::TypeOutcome applyChosen(const graph::Graph &graph, const infer::NodeTypes &rules, graph::NodeId id,
                             std::span<tensor::DType> inputs, std::span<tensor::DType> outputs);

} // namespace halftone::mixed
