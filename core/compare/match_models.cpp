#include "core/compare/layer_compare.h"
#include "core/dialect/dialect.h"
#include "core/dialect/quantized_forms.h"
#include "core/graph/traverse.h"

#include <unordered_map>
#include <unordered_set>

namespace halftone::compare {
namespace {

using dialect::NodeRole;
using graph::NodeId;
using rewrite::kNoNode;

/// Nodes that stand for no layer.
bool changesType(const graph::Graph &graph, NodeId id)
{
    const dialect::NodeRole role = dialect::roleOf(graph, id);
    return dialect::isCast(role) || dialect::changesCodes(role);
}

/// Names of nodes inside the fused nodes among `matched`: their values are part of another one's.
std::unordered_set<std::string_view> fusedNames(const graph::Graph &graph,
                                                const std::unordered_set<NodeId> &matched)
{
    std::unordered_set<std::string_view> names;
    for (const NodeId id : matched) {
        if (dialect::roleOf(graph, id) != NodeRole::Fused)
            continue;
        for (const auto &body : graph.node(id).subgraphs) {
            for (NodeId k = 0; k < body->nodeCount(); ++k)
                names.insert(body->node(k).name);
        }
    }
    return names;
}

/// Nodes that were given another name, as quantizers do, and kept that of their first output.
void pairByOutput(ComparedModels &models)
{
    const graph::Graph &reference = models.reference.graph;
    const graph::Graph &other = models.other.graph;
    const std::unordered_set<NodeId> paired(models.counterpart.begin(), models.counterpart.end());
    std::unordered_map<std::string, NodeId> byOutput;
    for (NodeId id = 0; id < other.nodeCount(); ++id)
        if (!other.isVariable(id) && !paired.contains(id) && !changesType(other, id))
            byOutput.emplace(dialect::of(other).entryName(other, {id, 0, 0}), id);
    for (NodeId id = 0; !byOutput.empty() && id < reference.nodeCount(); ++id) {
        if (reference.isVariable(id) || models.counterpart[id] != kNoNode)
            continue;
        const auto found = byOutput.find(dialect::of(reference).entryName(reference, {id, 0, 0}));
        if (found != byOutput.end())
            models.counterpart[id] = found->second;
    }
}

} // namespace

ComparedModels convertedPair(const graph::Model &source, const graph::Model &converted,
                             const rewrite::Conversion &conversion)
{
    ComparedModels models{source, converted, conversion.fromSource, conversion.types, conversion.int8Group};
    std::unordered_map<NodeId, NodeId> into;
    for (const rewrite::MergedNode &merged : conversion.merged)
        into.emplace(merged.node, merged.into);
    for (const rewrite::MergedNode &merged : conversion.merged) {
        NodeId survivor = merged.into;
        for (auto next = into.find(survivor); next != into.end(); next = into.find(survivor))
            survivor = next->second;
        models.counterpart[merged.node] = conversion.fromSource[survivor];
    }
    return models;
}

Result<ComparedModels> pairByName(const graph::Model &reference, const graph::Model &other)
{
    if (reference.graph.heads().size() != other.graph.heads().size())
        return badInput("heads", std::to_string(other.graph.heads().size()) + " outputs",
                        std::to_string(reference.graph.heads().size()) + ", like the other model");
    ComparedModels models{reference, other, std::vector<NodeId>(reference.graph.nodeCount(), kNoNode), {}};
    graph::NodesByName names = graph::operatorsByName(other.graph);
    // An int8 form stands for the node that it was made from, a fused one for the last that it holds.
    std::unordered_map<std::string_view, std::string_view> fused;
    const dialect::QuantizedForms *const forms = dialect::of(other.graph).quantizedForms();
    for (NodeId id = 0; id < other.graph.nodeCount(); ++id) {
        const auto source = forms ? forms->sourceOf(other.graph.node(id).name) : std::nullopt;
        if (!source)
            continue;
        std::string_view name = *source;
        const auto &bodies = other.graph.node(id).subgraphs;
        const bool isFused = dialect::roleOf(other.graph, id) == NodeRole::Fused && bodies.size() == 1
            && !bodies[0]->heads().empty();
        if (isFused)
            name = fused.emplace(name, bodies[0]->node(bodies[0]->heads()[0].node).name).first->second;
        else if (const auto last = fused.find(name); last != fused.end())
            name = last->second;
        names.insert_or_assign(name, id); // of sums and what rescales them the latter, which comes later
    }
    for (NodeId id = 0; id < reference.graph.nodeCount(); ++id) {
        const auto found
            = reference.graph.isVariable(id) ? names.end() : names.find(reference.graph.node(id).name);
        if (found != names.end())
            models.counterpart[id] = found->second;
    }
    pairByOutput(models);
    return models;
}

Unmatched unmatchedNodes(const ComparedModels &models)
{
    Unmatched unmatched;
    std::unordered_set<NodeId> matched;
    const graph::Graph &reference = models.reference.graph;
    const graph::Graph &other = models.other.graph;
    for (NodeId id = 0; id < reference.nodeCount(); ++id) {
        if (models.counterpart[id] != kNoNode)
            matched.insert(models.counterpart[id]);
    }
    for (NodeId id = 0; id < other.nodeCount(); ++id) {
        // What is only there to be rescaled stands for its source together with what rescales it.
        if (matched.contains(id) && dialect::roleOf(other, id) == NodeRole::Requantize)
            matched.insert(other.inputs(id)[0].node);
    }
    const std::unordered_set<std::string_view> fused = fusedNames(other, matched);
    for (NodeId id = 0; id < reference.nodeCount(); ++id) {
        const std::string &name = reference.node(id).name;
        if (models.counterpart[id] == kNoNode && !reference.isVariable(id) && !fused.contains(name))
            unmatched.reference.push_back(name);
    }
    for (NodeId id = 0; id < other.nodeCount(); ++id) {
        if (!other.isVariable(id) && !matched.contains(id) && !changesType(other, id))
            unmatched.other.push_back(other.node(id).name);
    }
    return unmatched;
}

} // namespace halftone::compare
