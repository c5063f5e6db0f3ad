#include "core/tune/grouping.h"

#include "core/graph/traverse.h"
#include "core/patterns/unit.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <unordered_map>

namespace halftone::tune {
namespace {

using graph::NodeId;
using policy::Request;
using policy::Rule;

/// Sets of nodes that are joined one pair after the other (Tarjan 1975).
class NodeSets
{
public:
    explicit NodeSets(std::size_t nodes)
        : m_above(nodes)
    {
        std::iota(m_above.begin(), m_above.end(), NodeId{0});
    }

    NodeId of(NodeId node)
    {
        while (m_above[node] != node)
            node = m_above[node] = m_above[m_above[node]];
        return node;
    }
    void join(NodeId one, NodeId other)
    {
        const NodeId a = of(one);
        const NodeId b = of(other);
        m_above[std::max(a, b)] = std::min(a, b);
    }

private:
    std::vector<NodeId> m_above;
};

std::vector<NodeId> nodesOf(const kernels::PlanStep &step, const graph::NodesByName &ids)
{
    std::vector<NodeId> nodes;
    for (const std::string &name : step.nodes)
        if (const auto found = ids.find(name); found != ids.end())
            nodes.push_back(found->second);
    return nodes;
}

bool isPinned(Rule rule)
{
    return rule == Rule::OverrideFp32 || rule == Rule::OverrideTarget || rule == Rule::OverrideInt8
        || rule == Rule::ExcludedName;
}

/// Does a conversion choose where the node computes, and chooses the target where all is lowered?
bool isFollowing(const mixed::ConvertedModel &narrow, NodeId node)
{
    const Request request = narrow.assignment.requested(node);
    return narrow.policy.mode.value_or(policy::Mode::Typed) == policy::Mode::Typed
        && (request == Request::Follow || request == Request::Widest)
        && narrow.conversion.precisionOf(node) == narrow.policy.target;
}

bool isDecided(const mixed::ConvertedModel &narrow, NodeId node)
{
    return narrow.assignment.requested(node) == Request::Target && !isPinned(narrow.assignment.rule(node))
        && narrow.conversion.precisionOf(node) == narrow.policy.target;
}

class Grouping
{
public:
    Grouping(const graph::Model &model, const LabelledRun &narrow, const LabelledRun *int8)
        : m_graph(model.graph)
        , m_narrow(*narrow.converted)
        , m_int8(int8 == nullptr ? nullptr : int8->converted)
        , m_sets(model.graph.nodeCount())
        , m_ids(graph::operatorsByName(model.graph))
    {
    }

    void joinSteps(const latency::Latency &latency)
    {
        for (const latency::LayerLatency &layer : latency.layers) {
            const std::vector<NodeId> nodes = nodesOf(layer.step, m_ids);
            for (std::size_t k = 1; k < nodes.size(); ++k)
                m_sets.join(nodes[0], nodes[k]);
        }
    }

    void joinUnits(const graph::Model &model)
    {
        for (const patterns::Unit &unit : patterns::findUnits(patterns::networkOf(model)))
            if (unit.kind != patterns::UnitKind::Mlp
                && unit.kind != patterns::UnitKind::GatedMlp) // products may differ
                for (const patterns::NodeIndex node : unit.nodes)
                    m_sets.join(unit.nodes[0], node);
    }

    std::vector<Group> groups()
    {
        std::vector<Group> groups;
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            if (m_graph.isVariable(id))
                continue;
            const auto [found, isNew] = m_index.emplace(m_sets.of(id), groups.size());
            if (isNew)
                groups.emplace_back();
            groups[found->second].nodes.push_back(id);
        }
        for (Group &group : groups)
            describe(group);
        return groups;
    }

    std::vector<Link> links(const infer::ShapeMap &shapes)
    {
        std::vector<Link> links;
        std::map<std::pair<NodeId, std::uint32_t>, std::size_t> index;
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            for (const graph::Entry &entry : m_graph.inputs(id)) {
                if (m_graph.isVariable(id) || m_graph.isVariable(entry.node))
                    continue;
                const std::size_t from = groupOf(entry.node);
                const std::size_t to = groupOf(id);
                if (from == to)
                    continue;
                const auto [found, isNew] = index.emplace(std::pair(entry.node, entry.output), links.size());
                if (isNew)
                    links.push_back(
                        {from, {}, {}, static_cast<double>(shapes.of(entry).elementCount().value_or(0))});
                auto &readers = links[found->second].readers;
                if (std::ranges::find(readers, to) == readers.end())
                    readers.push_back(to);
            }
        }
        return links;
    }

    /// Compute steps' medians, told for the group that they belong to.
    void addTimes(std::vector<Group> &groups, const latency::Latency &latency, Label label)
    {
        for (const latency::LayerLatency &layer : latency.layers) {
            const std::vector<NodeId> nodes = nodesOf(layer.step, m_ids);
            if (!nodes.empty() && layer.step.kind == kernels::StepKind::Compute)
                groups[groupOf(nodes[0])].costs.microseconds[static_cast<std::size_t>(label)]
                    += layer.medianUs;
        }
    }

private:
    std::size_t groupOf(NodeId node) { return m_index.at(m_sets.of(node)); }

    bool readsOthers(NodeId node)
    {
        return std::ranges::any_of(m_graph.inputs(node), [&](const graph::Entry &entry) {
            return !m_graph.isVariable(entry.node) && m_sets.of(entry.node) != m_sets.of(node);
        });
    }

    void describe(Group &group)
    {
        std::ranges::copy_if(group.nodes, std::back_inserter(group.decided),
                             [this](NodeId id) { return isDecided(m_narrow, id); });
        group.isTunable = !group.decided.empty();
        if (group.isTunable)
            std::ranges::copy_if(group.nodes, std::back_inserter(group.joining),
                                 [this](NodeId id) { return isFollowing(m_narrow, id) && readsOthers(id); });
        group.costs.follows = !group.isTunable;
        const NodeId named = group.isTunable ? group.decided[0] : group.nodes[0];
        group.name = m_graph.node(named).name;
        const bool follows = std::ranges::any_of(group.nodes, [this](NodeId id) {
            return m_narrow.conversion.precisionOf(id) == m_narrow.policy.target;
        });
        group.costs.isAllowed[static_cast<std::size_t>(Label::Target)] = follows;
        if (m_int8 != nullptr && group.isTunable)
            group.costs.isAllowed[static_cast<std::size_t>(Label::Int8)] = std::ranges::any_of(
                group.nodes, [this](NodeId id) { return m_int8->conversion.isInt8(id); });
        group.isErrorKnown = !group.isTunable;
        if (follows)
            return;
        group.whyFixed = m_narrow.assignment.entry(named);
        if (group.whyFixed.empty())
            group.whyFixed = std::string(policy::nameOf(m_narrow.assignment.rule(named)));
    }

    const graph::Graph &m_graph;
    const mixed::ConvertedModel &m_narrow;
    const mixed::ConvertedModel *m_int8;
    NodeSets m_sets;
    graph::NodesByName m_ids;
    std::unordered_map<NodeId, std::size_t> m_index; ///< by a set's first node
};

/// What is lowered by name alone stays so.
void fixPinned(Network &network, const mixed::ConvertedModel &narrow)
{
    for (Group &group : network.groups) {
        const bool isPinnedLow = !group.isTunable && std::ranges::any_of(group.nodes, [&](NodeId id) {
            return narrow.assignment.rule(id) == Rule::OverrideTarget;
        });
        if (!isPinnedLow)
            continue;
        group.costs.isAllowed = {false, true, false};
        group.whyFixed = "lowered by name";
    }
}

} // namespace

Network networkOf(const graph::Model &model, const infer::ShapeMap &shapes, const latency::Latency &wide,
                  const LabelledRun &narrow, const LabelledRun *int8)
{
    Grouping grouping(model, narrow, int8);
    grouping.joinSteps(wide);
    grouping.joinSteps(*narrow.latency);
    if (int8 != nullptr)
        grouping.joinSteps(*int8->latency);
    grouping.joinUnits(model);
    Network network;
    network.groups = grouping.groups();
    network.links = grouping.links(shapes);
    grouping.addTimes(network.groups, wide, Label::Float32);
    grouping.addTimes(network.groups, *narrow.latency, Label::Target);
    if (int8 != nullptr)
        grouping.addTimes(network.groups, *int8->latency, Label::Int8);
    fixPinned(network, *narrow.converted);
    return network;
}

} // namespace halftone::tune
