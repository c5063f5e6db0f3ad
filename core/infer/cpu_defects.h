#pragma once

#include "core/dialect/arithmetic.h"
#include "core/graph/graph.h"
#include "core/infer/type_map.h"
#include "core/policy/rules.h"

#include <optional>
#include <vector>

namespace halftone::infer {

/// A node that the runtime of its format refuses, or computes otherwise than its operator says.
struct CpuDefect
{
    graph::NodeId node = 0;
    std::optional<dialect::Int8Defect> int8; ///< otherwise it computes in bfloat16
    dialect::Bfloat16Way bfloat16 = dialect::Bfloat16Way::Rounds;
};

/// In the graph's order, as far as types are known; bodies are not looked into.
std::vector<CpuDefect> cpuDefects(const graph::Graph &graph, const TypeMap &types);

/// One warning a node; of nodes whose bfloat16 results are cut one for all.
std::vector<policy::Warning> cpuWarnings(const graph::Graph &graph, const std::vector<CpuDefect> &defects);

} // namespace halftone::infer
