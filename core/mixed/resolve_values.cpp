#include "core/mixed/resolve_values.h"

#include "core/dialect/dialect.h"
#include "core/rewrite/twins.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace halftone::mixed {
namespace {

using graph::Entry;
using graph::NodeId;

class Resolver
{
public:
    Resolver(const graph::Graph &source, const infer::NodeTypes &rules, const policy::Assignment &assignment,
             bool share, TypedPlan &plan)
        : m_source(source)
        , m_rules(rules)
        , m_assignment(assignment)
        , m_share(share)
        , m_plan(plan)
    {
    }

    void run()
    {
        m_plan.value.resize(m_plan.original.size());
        for (NodeId id = 0; id < m_source.nodeCount(); ++id) {
            m_isCast.push_back(dialect::isCast(dialect::roleOf(m_source, id)) && readsKnownTypes(id));
            for (std::uint32_t k = 0; k < m_rules.outputCount(id); ++k)
                m_plan.value[m_plan.firstOutput[id] + k] = {id, k, 0};
        }
        resolve();
        placeHeadTwins();
        dropUnneeded();
    }

private:
    bool readsKnownTypes(NodeId id) const;
    bool isHeadCast(NodeId id) const;
    void resolve();
    std::vector<bool> headNodes() const;
    std::uint32_t kindOf(NodeId id) const;
    void standFor(NodeId id, NodeId twin);
    void placeHeadTwins();
    void dropUnneeded();

    const graph::Graph &m_source;
    const infer::NodeTypes &m_rules;
    const policy::Assignment &m_assignment;
    bool m_share;
    TypedPlan &m_plan;
    std::vector<bool> m_isCast; ///< by NodeId: a cast that readers can do without
    /// Of a node that comes first: the head that takes its place.
    std::unordered_map<NodeId, NodeId> m_headTwins;
};

/// Of a value that nobody knows the type of, only the cast says what its readers get.
bool Resolver::readsKnownTypes(NodeId id) const
{
    return std::ranges::none_of(m_source.inputs(id), [this](const Entry &entry) {
        return m_plan.original[m_plan.output(entry)] == tensor::DType::Unknown;
    });
}

/// A cast of a conversion that gives what a head is called: it is no cast that readers can do without.
bool Resolver::isHeadCast(NodeId id) const
{
    const graph::NodeDef &node = m_source.node(id);
    if (m_source.isVariable(id) || m_source.inputs(id).size() != 1
        || !dialect::of(m_source).isCastName(node.name))
        return false;
    const auto op = dialect::of(m_source).readKind(node);
    return op.ok() && op.value().is<ops::Cast>()
        && rewrite::isCastable(m_plan.original[m_plan.output(m_source.inputs(id)[0])]);
}

/// Finds what stands for what: casts for what they cast, nodes for an equal one that comes earlier.
void Resolver::resolve()
{
    std::optional<rewrite::Twins> twins;
    if (m_share)
        twins.emplace(m_source);
    const std::vector<bool> isHead = headNodes();
    std::vector<Entry> inputs;
    for (const NodeId id : m_plan.order) {
        inputs.clear();
        for (const Entry &entry : m_source.inputs(id)) {
            inputs.push_back(m_plan.valueOf(entry));
            inputs.back().version = entry.version;
        }
        if (m_isCast[id]) {
            for (std::uint32_t k = 0; k < inputs.size() && k < m_rules.outputCount(id); ++k)
                m_plan.value[m_plan.firstOutput[id] + k] = inputs[k];
            m_plan.foldedCasts.push_back(id);
            continue;
        }
        if (twins && m_source.controlDependencies(id).empty() && m_plan.parts[id] == id) {
            const NodeId twin = twins->findOrAdd(id, inputs, kindOf(id));
            // Two heads stay two; one keeps its name, whichever of the twins comes first.
            if (twin != id && !(isHead[id] && (isHead[twin] || m_headTwins.contains(twin)))) {
                standFor(id, twin);
                if (isHead[id])
                    m_headTwins.emplace(twin, id);
            }
        }
    }
}

/// Nodes of one kind may be twins: what is asked for the same. A node that a person overrode does not stand aside for one that
/// nobody did: what needs that one's value exact later would hold it, though not the other (M-position).
std::uint32_t Resolver::kindOf(NodeId id) const
{
    constexpr std::uint32_t kOverridden = 0x100;
    const auto request = static_cast<std::uint32_t>(m_assignment.requested(id));
    return m_assignment.rule(id) == policy::Rule::OverrideTarget ? request | kOverridden : request;
}

/// A head that has an earlier twin stands where that one stood, so that the output keeps its name.
void Resolver::placeHeadTwins()
{
    if (m_headTwins.empty())
        return;
    const auto placed = [this](NodeId id) {
        const auto head = m_headTwins.find(id);
        return head == m_headTwins.end() ? id : head->second;
    };
    for (Entry &value : m_plan.value)
        value.node = placed(value.node);
    std::vector<rewrite::MergedNode> merged;
    for (const rewrite::MergedNode &one : m_plan.merged) {
        const NodeId into = placed(one.into);
        merged.push_back(one.node == into ? rewrite::MergedNode{one.into, into}
                                          : rewrite::MergedNode{one.node, into});
    }
    m_plan.merged = std::move(merged);
    std::unordered_map<NodeId, NodeId> partner;
    for (const auto &[first, head] : m_headTwins) {
        partner.emplace(first, head);
        partner.emplace(head, first);
    }
    for (NodeId &id : m_plan.order) {
        if (const auto other = partner.find(id); other != partner.end())
            id = other->second;
    }
}

/// Leaves the nodes that heads need now that casts and twins are gone.
void Resolver::dropUnneeded()
{
    std::vector<bool> needed(m_source.nodeCount(), false);
    for (const Entry &head : m_source.heads())
        needed[m_plan.valueOf(head).node] = true;
    for (auto id = m_plan.order.rbegin(); id != m_plan.order.rend(); ++id) {
        if (!needed[*id])
            continue;
        for (const Entry &entry : m_source.inputs(*id))
            needed[m_plan.valueOf(entry).node] = true;
        for (const NodeId dependency : m_source.controlDependencies(*id))
            needed[m_plan.valueOf({dependency, 0, 0}).node] = true;
    }
    std::erase_if(m_plan.order, [&](NodeId id) { return !needed[id]; });
    std::erase_if(m_plan.merged, [&](const rewrite::MergedNode &merged) { return !needed[merged.into]; });
}

/// Nodes whose outputs are heads, seen through casts.
std::vector<bool> Resolver::headNodes() const
{
    std::vector<bool> isHead(m_source.nodeCount(), false);
    for (Entry head : m_source.heads()) {
        // What stands before a cast at a head was a head when that cast was made.
        while ((m_isCast[head.node] || isHeadCast(head.node))
               && head.output < m_source.inputs(head.node).size()) {
            isHead[head.node] = !m_isCast[head.node];
            head = m_source.inputs(head.node)[head.output];
        }
        isHead[head.node] = true;
    }
    return isHead;
}

void Resolver::standFor(NodeId id, NodeId twin)
{
    for (std::uint32_t k = 0; k < m_rules.outputCount(id); ++k)
        m_plan.value[m_plan.firstOutput[id] + k] = {twin, k, 0};
    m_plan.merged.push_back({id, twin});
}

} // namespace

void resolveValues(const graph::Graph &source, const infer::NodeTypes &rules,
                   const policy::Assignment &assignment, bool share, TypedPlan &plan)
{
    Resolver(source, rules, assignment, share, plan).run();
}

} // namespace halftone::mixed
