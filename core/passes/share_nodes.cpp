#include "core/passes/share_nodes.h"

#include "core/dialect/mxnet/merging.h"
#include "core/graph/traverse.h"
#include "core/passes/rebuild.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace halftone::passes {
namespace {

using graph::Entry;
using graph::NodeId;
namespace mx = dialect::mxnet;

void append(std::string &key, std::uint32_t number)
{
    key.append(reinterpret_cast<const char *>(&number), sizeof number);
}

/// Equal for nodes that compute the same.
std::string keyOf(const graph::Graph &source, NodeId id, std::span<const Entry> inputs)
{
    std::string key;
    append(key, source.opOf(id));
    for (const Entry &entry : inputs) {
        append(key, entry.node);
        append(key, entry.output);
        append(key, entry.version);
    }
    return key + mx::attributeKey(source.node(id));
}

class Sharing
{
public:
    explicit Sharing(const graph::Graph &source)
        : m_source(source)
        , m_rebuild(source)
        , m_outputs(graph::referencedOutputs(source))
    {
        for (const std::string &name : source.operatorNames())
            m_mayMerge.push_back(mx::mayMerge(name));
    }

    graph::Graph run(Rewritten &result)
    {
        for (const NodeId id : m_rebuild.order()) {
            std::vector<Entry> inputs = m_rebuild.inputsOf(id);
            const bool mergeable
                = m_mayMerge[m_source.opOf(id)] && !inputs.empty() && m_source.node(id).subgraphs.empty();
            if (!mergeable) {
                m_rebuild.keep(id, std::move(inputs));
                continue;
            }
            const auto [twin, isFirst] = m_firsts.try_emplace(keyOf(m_source, id, inputs), 0);
            if (isFirst) {
                twin->second = m_rebuild.keep(id, std::move(inputs));
                continue;
            }
            standIn(id, twin->second);
            result.notes.push_back(m_source.node(id).name + " vanished: "
                                   + m_rebuild.graph().node(twin->second).name + " computes the same");
            ++result.changed;
        }
        return separateHeads(m_rebuild.finish());
    }

private:
    void standIn(NodeId id, NodeId twin)
    {
        std::vector<Entry> tensors;
        for (std::uint32_t k = 0; k < m_outputs[id]; ++k)
            tensors.push_back({twin, k, 0});
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
            auto copy = std::make_shared<graph::NodeDef>();
            copy->op = "_copy";
            copy->name = graph.node(heads[k].node).name + '_' + std::to_string(m_copies++) + "_copy";
            heads[k] = {graph.add(std::move(copy), std::span(&heads[k], 1)), 0, 0};
        }
        graph.setHeads(std::move(heads));
        return graph;
    }

    const graph::Graph &m_source;
    Rebuild m_rebuild;
    std::vector<std::uint32_t> m_outputs;
    std::vector<bool> m_mayMerge; ///< by OpIndex
    std::unordered_map<std::string, NodeId> m_firsts;
    int m_copies = 0;
};

} // namespace

Result<Rewritten> shareNodes(const graph::Model &model, const Progress &)
{
    Rewritten result{{{}, model.parameters, model.hasParameters}, 0, {}};
    result.model.graph = Sharing(model.graph).run(result);
    return result;
}

} // namespace halftone::passes
