#include "core/rewrite/share_nodes.h"

#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/rewrite/rebuild.h"
#include "core/rewrite/twins.h"

#include <unordered_map>
#include <utility>

namespace halftone::rewrite {
namespace {

using graph::Entry;
using graph::NodeId;

class Sharing
{
public:
    explicit Sharing(const graph::Graph &source)
        : m_source(source)
        , m_rebuild(source)
        , m_outputs(graph::referencedOutputs(source))
        , m_twins(source)
    {
    }

    graph::Graph run()
    {
        for (const NodeId id : m_rebuild.order()) {
            std::vector<Entry> inputs = m_rebuild.inputsOf(id);
            const NodeId twin = m_twins.findOrAdd(id, inputs);
            if (twin == id) {
                m_rebuild.keep(id, std::move(inputs));
                continue;
            }
            standIn(id, twin);
            m_merged.push_back({id, twin});
        }
        return separateHeads(m_rebuild.finish());
    }

    /// In terms of the source.
    const std::vector<MergedNode> &merged() const { return m_merged; }
    const std::vector<CopiedHead> &copies() const { return m_copies; }
    /// What stands for a tensor of the source in the new graph.
    Entry now(const Entry &entry) const { return m_rebuild.now(entry); }
    const std::vector<NodeId> &order() const { return m_rebuild.order(); }

private:
    void standIn(NodeId id, NodeId twin)
    {
        std::vector<Entry> tensors;
        for (std::uint32_t k = 0; k < m_outputs[id]; ++k)
            tensors.push_back(m_rebuild.now({twin, k, 0}));
        m_rebuild.replace(id, std::move(tensors));
    }

    /// Heads that were two tensors and are one now get a copy each but the first.
    graph::Graph separateHeads(graph::Graph graph)
    {
        std::unordered_map<std::uint64_t, Entry>
            sourceOf; // tensor in the new graph -> the source's head that came first
        std::vector<Entry> heads(graph.heads().begin(), graph.heads().end());
        for (std::size_t k = 0; k < heads.size(); ++k) {
            const std::uint64_t tensor = std::uint64_t{heads[k].node} << 32 | heads[k].output;
            const auto [first, isNew] = sourceOf.try_emplace(tensor, m_source.heads()[k]);
            if (isNew || first->second == m_source.heads()[k])
                continue;
            std::string name
                = graph.node(heads[k].node).name + '_' + std::to_string(m_copies.size()) + "_copy";
            heads[k]
                = {graph.add(dialect::of(graph).makeCopy(std::move(name)), std::span(&heads[k], 1)), 0, 0};
            m_copies.push_back({static_cast<std::uint32_t>(k), heads[k].node});
        }
        graph.setHeads(std::move(heads));
        return graph;
    }

    const graph::Graph &m_source;
    Rebuild m_rebuild;
    std::vector<std::uint32_t> m_outputs;
    Twins m_twins;
    std::vector<MergedNode> m_merged;
    std::vector<CopiedHead> m_copies;
};

} // namespace

Result<Rewritten> shareNodes(const graph::Model &model, const Progress &)
{
    Rewritten result{{{}, model.parameters, model.hasParameters}, 0, {}};
    Sharing sharing(model.graph);
    result.model.graph = sharing.run();
    result.changed = sharing.merged().size();
    for (const MergedNode &merged : sharing.merged())
        result.notes.push_back(model.graph.node(merged.node).name + " was merged into "
                               + model.graph.node(merged.into).name);
    return result;
}

void shareConverted(const graph::Graph &source, Conversion &conversion)
{
    const graph::Graph before = std::move(conversion.graph);
    Sharing sharing(before);
    conversion.graph = sharing.run();
    conversion.copiedHeads = sharing.copies();

    std::vector<NodeId> standsFor(before.nodeCount(), kNoNode); // of merged nodes
    for (const MergedNode &merged : sharing.merged())
        standsFor[merged.node] = merged.into;

    std::vector<NodeId> was(conversion.graph.nodeCount(), kNoNode);
    for (const NodeId id : sharing.order()) {
        if (standsFor[id] == kNoNode)
            was[sharing.now({id, 0, 0}).node] = id;
    }
    infer::TypeMap types;
    types.reserve(conversion.graph.nodeCount());
    for (NodeId id = 0; id < conversion.graph.nodeCount(); ++id) {
        if (was[id] != kNoNode)
            types.append(std::as_const(conversion.types).outputs(was[id]));
        else
            types.append(types.of(conversion.graph.inputs(id)[0])); // the copy of a head
    }
    conversion.types = std::move(types);

    std::vector<NodeId> sourceOf(before.nodeCount(), kNoNode);
    for (NodeId id = 0; id < source.nodeCount(); ++id) {
        if (conversion.fromSource[id] != kNoNode)
            sourceOf[conversion.fromSource[id]] = id;
    }
    for (NodeId &copy : conversion.fromSource) {
        if (copy == kNoNode)
            continue;
        const NodeId twin = standsFor[copy];
        if (twin != kNoNode)
            conversion.merged.push_back({sourceOf[copy], sourceOf[twin]});
        copy = twin != kNoNode ? kNoNode : sharing.now({copy, 0, 0}).node;
    }

    // Casts of merged tensors have become one as well.
    std::unordered_map<NodeId, std::size_t> records;
    std::vector<InsertedCast> casts;
    for (InsertedCast &cast : conversion.casts) {
        const NodeId now = sharing.now({cast.cast, 0, 0}).node;
        const auto [at, isNew] = records.try_emplace(now, casts.size());
        if (isNew) {
            casts.push_back(std::move(cast));
            casts.back().cast = now;
        } else {
            auto &readers = casts[at->second].readers;
            readers.insert(readers.end(), cast.readers.begin(), cast.readers.end());
        }
    }
    conversion.casts = std::move(casts);
}

} // namespace halftone::rewrite
