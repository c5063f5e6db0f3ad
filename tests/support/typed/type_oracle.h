#pragma once

#include "core/graph/graph.h"
#include "core/tensor/dtype.h"

#include <string>
#include <vector>

/// Element types by rules written for the tests: what the type-conversion tests believe, derived from MXNet's
/// documentation of each operator and owing nothing to core/ops, core/dialect, core/infer or core/mixed. Knows the operators that
/// the random graphs and the recorded type-aware cases are made of.
namespace halftone::test {

using Types = std::vector<tensor::DType>;

enum class Fit
{
    Complete,
    Open, ///< some type that the rule wants to know is not known
    Contradiction,
};

/// Fills in what follows from the known types (Unknown is open) of one node; never changes a known type. A node of an
/// operator that has no rule here is Open, and nothing is filled in.
Fit completeTypes(const graph::NodeDef &node, Types &inputs, Types &outputs);

/// With hidden ones; at least 1 for an operator that has no rule here.
std::size_t oracleOutputs(const graph::NodeDef &node);
bool oracleKnows(const std::string &op);
/// BatchNorm's moving mean and variance.
bool isWrittenInput(const graph::NodeDef &node, std::size_t input);

struct OracleTypes
{
    std::vector<Types> outputs; ///< by NodeId; Unknown where nothing says
    std::string contradiction; ///< the first one: node and types; empty when there is none
};

/// Forward from the variables, whose types are given by NodeId; bodies of control flow are looked into.
OracleTypes typesByOracle(const graph::Graph &graph, const Types &variables);

std::string textOf(const Types &types); ///< "float32, int32"

} // namespace halftone::test
