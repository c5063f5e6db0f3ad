#pragma once

#include "core/graph/graph.h"
#include "core/ops/type_rule.h"

#include <cstddef>
#include <span>

namespace halftone::infer {

/// TypeRule::apply() for a node of which optional inputs may be absent: the rule sees those as open. `where` gets a position
/// among the inputs that are there, and outputs behind them.
ops::TypeOutcome applyBySlot(const graph::NodeDef &node, const ops::TypeRule &rule,
                             std::span<tensor::DType> inputs, std::span<tensor::DType> outputs,
                             std::size_t *where = nullptr);

} // namespace halftone::infer
