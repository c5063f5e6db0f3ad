#include "core/mixed/assign_by_mode.h"

#include "core/dialect/dialect.h"
#include "core/mixed/tvm_class.h"
#include "core/ops/operator.h"

#include <map>
#include <optional>
#include <string>

namespace halftone::mixed {
namespace {

using graph::NodeId;
using policy::Rule;

Rule ruleOf(TvmClass one)
{
    return one == TvmClass::Always ? Rule::TvmAlways
        : one == TvmClass::Never   ? Rule::TvmNever
                                   : Rule::TvmFollow;
}

std::uint32_t addEntry(policy::Assignment &assignment, std::string text)
{
    assignment.entries.push_back(std::move(text));
    return static_cast<std::uint32_t>(assignment.entries.size() - 1);
}

/// Reads a shape alone, or gives a type that it names: the one that it reads means nothing to it.
bool hasNoPrecision(const graph::Graph &graph, NodeId id)
{
    const auto op = dialect::of(graph).readKind(graph.node(id));
    return op.ok() && (op.value().is<ops::ShapeOf>() || op.value().is<ops::Cast>());
}

/// Control flow and casts have no precision of their own, and what is coded stays so.
bool isOpen(const graph::Graph &graph, const policy::Assignment &assignment, NodeId id)
{
    if (graph.isVariable(id) || assignment.rule(id) == Rule::Coded)
        return false;
    const dialect::NodeRole role = dialect::roleOf(graph, id);
    return role == dialect::NodeRole::Other || role == dialect::NodeRole::Fused;
}

policy::Warning missing(const std::string &op, std::vector<std::string> nodes)
{
    const std::string count = std::to_string(nodes.size()) + (nodes.size() == 1 ? " node" : " nodes");
    return {"operator \"" + op + '"', "TVM has no class for it; " + count + " treated as follow",
            "missing_operator_class", std::move(nodes)};
}

} // namespace

void assignByTvm(const graph::Graph &graph, policy::Assignment &assignment,
                 std::vector<policy::Warning> &warnings)
{
    std::map<std::string, std::vector<std::string>> unregistered;
    std::map<Rule, std::uint32_t> entries;
    const auto entryOf = [&](Rule rule) {
        const auto [at, fresh] = entries.try_emplace(rule);
        if (fresh)
            at->second = addEntry(assignment, "TVM: " + std::string(policy::nameOf(rule)).substr(4));
        return at->second;
    };
    std::optional<std::uint32_t> noEntry;
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!isOpen(graph, assignment, id) || policy::isChosen(assignment.inFloat(id)))
            continue;
        const graph::NodeDef &node = graph.node(id);
        const auto op = dialect::of(graph).readKind(node);
        if (const auto known = op.ok() ? tvmClassOf(op.value()) : std::nullopt) {
            assignment.inFloat(id) = {ruleOf(*known), entryOf(ruleOf(*known))};
            continue;
        }
        if (!noEntry)
            noEntry = addEntry(assignment, "TVM: follow (no class for this operator)");
        assignment.inFloat(id) = {Rule::TvmFollow, *noEntry};
        unregistered[node.op].push_back(node.name);
    }
    for (auto &[op, nodes] : unregistered)
        warnings.push_back(missing(op, std::move(nodes)));
}

void assignEverything(const graph::Graph &graph, policy::Assignment &assignment)
{
    const std::uint32_t entry = addEntry(assignment, "mode all");
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        const bool isKnown
            = isOpen(graph, assignment, id) && dialect::of(graph).findOp(graph.node(id).op) != nullptr;
        if (isKnown && !policy::isChosen(assignment.inFloat(id)) && !hasNoPrecision(graph, id))
            assignment.inFloat(id) = {Rule::Everything, entry};
    }
}

} // namespace halftone::mixed
