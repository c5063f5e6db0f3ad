#include "core/profile/layer_compare.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace halftone::profile {
namespace {

using graph::NodeId;
using passes::kNoNode;

bool isCast(const graph::NodeDef &node)
{
    return node.op == "amp_cast" || node.op == "amp_multicast";
}

} // namespace

ComparedModels convertedPair(const graph::Model &source, const graph::Model &converted,
                             const passes::Conversion &conversion)
{
    ComparedModels models{source, converted, conversion.fromSource, conversion.types};
    std::unordered_map<NodeId, NodeId> into;
    for (const passes::MergedNode &merged : conversion.merged)
        into.emplace(merged.node, merged.into);
    for (const passes::MergedNode &merged : conversion.merged) {
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
                        std::to_string(reference.graph.heads().size()) + ", as the other model has");
    ComparedModels models{reference, other, std::vector<NodeId>(reference.graph.nodeCount(), kNoNode), {}};
    std::unordered_map<std::string_view, NodeId> names;
    for (NodeId id = 0; id < other.graph.nodeCount(); ++id) {
        if (!other.graph.isVariable(id))
            names.emplace(other.graph.node(id).name, id);
    }
    for (NodeId id = 0; id < reference.graph.nodeCount(); ++id) {
        const auto found
            = reference.graph.isVariable(id) ? names.end() : names.find(reference.graph.node(id).name);
        if (found != names.end())
            models.counterpart[id] = found->second;
    }
    return models;
}

Unmatched unmatchedNodes(const ComparedModels &models)
{
    Unmatched unmatched;
    std::unordered_set<NodeId> matched;
    const graph::Graph &reference = models.reference.graph;
    for (NodeId id = 0; id < reference.nodeCount(); ++id) {
        if (models.counterpart[id] != kNoNode)
            matched.insert(models.counterpart[id]);
        else if (!reference.isVariable(id))
            unmatched.reference.push_back(reference.node(id).name);
    }
    const graph::Graph &other = models.other.graph;
    for (NodeId id = 0; id < other.nodeCount(); ++id) {
        if (!other.isVariable(id) && !matched.contains(id) && !isCast(other.node(id)))
            unmatched.other.push_back(other.node(id).name);
    }
    return unmatched;
}

} // namespace halftone::profile
