#pragma once

#include "core/graph/graph.h"
#include "core/policy/rules.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace halftone::policy {

/// The rule that decided the type of a node, in order of precedence except Variable (core/mixed/RULES.md, M-precedence;
/// overrides come first).
enum class Rule : std::uint8_t
{
    Variable,
    OverrideFp32,
    OverrideTarget,
    OverrideInt8,
    ExcludedName, ///< also for variables, whose value then counts as float32
    Int8List,
    Fp32List,
    TargetList,
    WidestList,
    Conditional, ///< a condition holds
    ConditionUnmet, ///< the operator has conditions and none holds
    NeutralList,
    Unlisted,
    Hardware, ///< the chip cannot compute the operator in the target type
    HardwareStorage, ///< the chip only stores or emulates the type: no gain by itself
    StatisticsBeyond, ///< a mean or variance that it reads exceeds the range of the target type
    PositionPath, ///< 16 bit would round positions or scales that must be exact
    TvmAlways, ///< mode tvm: TVM lowers it
    TvmFollow, ///< mode tvm: lowered if all its inputs are, or can be
    TvmNever, ///< mode tvm: TVM keeps it in float32
    Everything, ///< mode all
    Coded, ///< computed in int8 by the source, and not overridden
};

/// The type that a rule requests for the inputs of a node.
enum class Request : std::uint8_t
{
    Nothing, ///< a variable
    Fp32,
    Target,
    Widest,
    Follow, ///< the types of the inputs
    Int8, ///< int8 if the node can be quantized; its floating-point inputs are float32
};

Request requestOf(Rule rule);
std::string_view nameOf(Rule rule); ///< as in reports: "fp32-list", "excluded-name", …
std::string_view nameOf(Request request); ///< "fp32", "target", "widest", "follow", "int8"; "" for Nothing

struct Decision
{
    Rule rule = Rule::Unlisted;
    std::uint32_t entry = 0; ///< index into Assignment::entries
    Origin origin = Origin::Given; ///< for lists: built-in or from the policy
};

/// The decision of every node of one graph.
struct Assignment
{
    std::vector<Decision> nodes; ///< by NodeId
    /// The deciding entry as text for reports: `fp32_ops: "softmax" (built-in float16 1.9.1)`. Index 0 is empty:
    /// no entry names the node.
    std::vector<std::string> entries;
    /// For nodes requested in int8: the decision that applies if they cannot be quantized.
    std::unordered_map<graph::NodeId, Decision> otherwise;

    Rule rule(graph::NodeId id) const { return nodes[id].rule; }
    Request requested(graph::NodeId id) const { return requestOf(nodes[id].rule); }
    /// The floating-point decision for the node.
    Decision &inFloat(graph::NodeId id)
    {
        const auto at = otherwise.find(id);
        return at == otherwise.end() ? nodes[id] : at->second;
    }
    const std::string &entry(graph::NodeId id) const { return entries[nodes[id].entry]; }
};

/// Did the user decide this, by a list, a move or a name?
bool isChosen(const Decision &decision);

/// The assignment without any int8 request.
Assignment withoutInt8(Assignment assignment);

/// Decides for every node of `graph`, not for bodies of control flow. A fused operator in no list takes the decision of the
/// operators in its body: fp32 (including conditions) before target before widest before neutral; its entry names the deciding
/// one. A condition holds if the attribute, given or default, equals one of the values in meaning (D-conditional-default).
/// Decisions are made once per operator name: a node costs a table lookup unless its operator has conditions.
Assignment assign(const graph::Graph &graph, const Rules &rules, const NamedNodes &named);

} // namespace halftone::policy
