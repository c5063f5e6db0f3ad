#pragma once

#include "core/graph/graph.h"
#include "core/policy/rules.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace halftone::policy {

/// What decided for a node. In order of precedence but for Variable (core/mixed/RULES.md, M-precedence;
/// overrides are ours and come first).
enum class Rule : std::uint8_t
{
    Variable,
    OverrideFp32,
    OverrideTarget,
    OverrideInt8,
    ExcludedName, ///< also of variables: their value then counts as float32
    Int8List,
    Fp32List,
    TargetList,
    WidestList,
    Conditional, ///< a condition holds
    ConditionUnmet, ///< the operator has conditions and none holds
    NeutralList,
    Unlisted,
    Hardware, ///< the chip cannot compute the operator in the target type
    HardwareStorage, ///< the chip keeps values in it, or emulates it: no gain by itself
    StatisticsBeyond, ///< a mean or variance that it would read in the target type is beyond that type's range
    PositionPath, ///< 16 bit would round positions, or scales of sizes, that something needs exact
    TvmAlways, ///< mode tvm: TVM lowers it
    TvmFollow, ///< mode tvm: lowered where all that it reads is, or can be
    TvmNever, ///< mode tvm: TVM keeps it in float32
    Everything, ///< mode all
    Coded, ///< computed with codes in the source already, and nobody has decided otherwise
};

/// What a rule asks of a node's inputs.
enum class Request : std::uint8_t
{
    Nothing, ///< a variable
    Fp32,
    Target,
    Widest,
    Follow, ///< as the inputs come
    Int8, ///< codes where the node can be quantized; what it reads as reals is float32
};

Request requestOf(Rule rule);
std::string_view nameOf(Rule rule); ///< "fp32-list", "excluded-name", …: as reports call it
std::string_view nameOf(Request request); ///< "fp32", "target", "widest", "follow", "int8"; "" for Nothing

struct Decision
{
    Rule rule = Rule::Unlisted;
    std::uint32_t entry = 0; ///< index into Assignment::entries
    Origin origin = Origin::Given; ///< of what a list decides: whose list
};

/// The decision of every node of one graph.
struct Assignment
{
    std::vector<Decision> nodes; ///< by NodeId
    /// What decided, as text for reports: `fp32_ops: "softmax" (built-in float16 1.9.1)`. Index 0 is empty:
    /// nothing named the node.
    std::vector<std::string> entries;
    /// Of nodes asked for int8: what holds where they cannot be quantized.
    std::unordered_map<graph::NodeId, Decision> otherwise;

    Rule rule(graph::NodeId id) const { return nodes[id].rule; }
    Request requested(graph::NodeId id) const { return requestOf(nodes[id].rule); }
    /// What holds for the node in floating point.
    Decision &inFloat(graph::NodeId id)
    {
        const auto at = otherwise.find(id);
        return at == otherwise.end() ? nodes[id] : at->second;
    }
    const std::string &entry(graph::NodeId id) const { return entries[nodes[id].entry]; }
};

/// Has a person decided so, by a list, a move or a name?
bool isChosen(const Decision &decision);

/// Every node as if no int8 were asked for.
Assignment withoutInt8(Assignment assignment);

/// Decides for every node of `graph`; bodies of control flow are not looked into. A fused operator that no list names
/// takes the decision of its body's operators: fp32 (a condition counts) before target before widest before neutral; its
/// entry says which one decided. Conditions hold when the
/// attribute, written or default, has one of the values by meaning (D-conditional-default). Decided once an
/// operator name: a node costs a table look-up unless its operator has conditions.
Assignment assign(const graph::Graph &graph, const Rules &rules, const NamedNodes &named);

} // namespace halftone::policy
