#include "tests/support/typed/replay.h"

#include "core/dialect/mxnet/dtype_code.h"
#include "core/graph/traverse.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace halftone::test {
namespace {

using graph::Entry;
using graph::Graph;
using graph::NodeDef;
using graph::NodeId;

class Replay
{
public:
    Replay(const Graph &source, const rewrite::Conversion &log)
        : m_source(source)
        , m_log(log)
        , m_folded(log.foldedCasts.begin(), log.foldedCasts.end())
        , m_copies(source.nodeCount(), rewrite::kNoNode)
    {
        for (const rewrite::MergedNode &merged : log.merged)
            m_standIn[merged.node] = merged.into;
        for (std::size_t c = 0; c < log.casts.size(); ++c) {
            for (const rewrite::Reader &reader : log.casts[c].readers)
                m_castFor[{reader.node, reader.input}] = c;
        }
    }

    Graph run()
    {
        std::vector<Entry> heads;
        for (std::uint32_t k = 0; k < m_source.heads().size(); ++k)
            heads.push_back(read(m_source.heads()[k], rewrite::kNoNode, k));
        for (const rewrite::CopiedHead &copied : m_log.copiedHeads) {
            auto def = std::make_shared<NodeDef>();
            def->op = "_copy";
            def->name = m_log.graph.node(copied.copy).name;
            heads[copied.head] = {m_result.add(std::move(def), std::vector{heads[copied.head]}), 0, 0};
        }
        m_result.setHeads(std::move(heads));
        return std::move(m_result);
    }

private:
    /// The tensor of the source that stands for `entry` once casts are folded and nodes merged.
    Entry value(Entry entry) const
    {
        while (true) {
            if (m_folded.contains(entry.node)) {
                const Entry &behind = m_source.inputs(
                    entry.node)[m_source.node(entry.node).op == "amp_cast" ? 0 : entry.output];
                entry = {behind.node, behind.output, behind.version};
            } else if (const auto twin = m_standIn.find(entry.node); twin != m_standIn.end()) {
                entry.node = twin->second;
            } else {
                return entry;
            }
        }
    }

    Entry read(const Entry &entry, NodeId reader, std::uint32_t input)
    {
        const Entry tensor = value(entry);
        const NodeId copy = copyOf(tensor.node);
        const auto cast = m_castFor.find({reader, input});
        if (cast == m_castFor.end())
            return {copy, tensor.output, entry.version};
        return {castOf(cast->second), 0, entry.version};
    }

    NodeId castOf(std::size_t index)
    {
        const rewrite::InsertedCast &cast = m_log.casts[index];
        if (const auto made = m_castNodes.find(index); made != m_castNodes.end())
            return made->second;
        auto def = std::make_shared<NodeDef>();
        def->op = "amp_cast";
        def->name = m_log.graph.node(cast.cast).name;
        def->attributes.set("dtype", std::string(tensor::nameOf(cast.type)));
        const Entry tensor = value(cast.tensor);
        const Entry raw{copyOf(tensor.node), tensor.output, cast.tensor.version};
        return m_castNodes[index] = m_result.add(std::move(def), std::vector{raw});
    }

    NodeId copyOf(NodeId root)
    {
        std::vector<NodeId> pending{root};
        while (!pending.empty()) {
            const NodeId id = pending.back();
            std::vector<NodeId> needed;
            for (const Entry &entry : m_source.inputs(id))
                needed.push_back(value(entry).node);
            for (const NodeId dependency : m_source.controlDependencies(id))
                needed.push_back(value({dependency, 0, 0}).node);
            const auto missing
                = std::ranges::find(needed, rewrite::kNoNode, [this](NodeId n) { return m_copies[n]; });
            if (m_copies[id] != rewrite::kNoNode) {
                pending.pop_back();
            } else if (missing != needed.end()) {
                pending.push_back(*missing);
            } else {
                copy(id);
                pending.pop_back();
            }
        }
        return m_copies[root];
    }

    /// Needs: what the node needs is copied.
    void copy(NodeId id)
    {
        std::vector<Entry> inputs;
        for (std::uint32_t i = 0; i < m_source.inputs(id).size(); ++i)
            inputs.push_back(read(m_source.inputs(id)[i], id, i));
        std::vector<NodeId> dependencies;
        for (const NodeId dependency : m_source.controlDependencies(id))
            dependencies.push_back(m_copies[value({dependency, 0, 0}).node]);
        m_copies[id] = m_result.add(definition(id), inputs, dependencies);
    }

    graph::NodeDefPtr definition(NodeId id) const
    {
        auto def = std::make_shared<NodeDef>(m_source.node(id));
        for (const rewrite::StoredParameter &parameter : m_log.parameters) {
            if (parameter.variable == id)
                def->attributes.set("__dtype__", std::to_string(dialect::mxnet::codeOf(parameter.to)));
        }
        if (std::ranges::find(m_log.markedParameters, id) != m_log.markedParameters.end()) {
            const tensor::DType type = m_log.types.at(m_log.fromSource[id], 0);
            def->attributes.set("__dtype__", std::to_string(dialect::mxnet::codeOf(type)));
        }
        for (const rewrite::ConvertedBody &body : m_log.bodies) {
            if (body.node == id)
                def->subgraphs[body.body]
                    = std::make_shared<const Graph>(replay(*def->subgraphs[body.body], body.conversion));
        }
        return def;
    }

    const Graph &m_source;
    const rewrite::Conversion &m_log;
    std::set<NodeId> m_folded;
    std::map<NodeId, NodeId> m_standIn;
    std::map<std::pair<NodeId, std::uint32_t>, std::size_t>
        m_castFor; ///< (reader, input) -> index into casts
    std::map<std::size_t, NodeId> m_castNodes;
    std::vector<NodeId> m_copies; ///< by source NodeId
    Graph m_result = Graph::like(m_source);
};

std::string entryText(const Graph &graph, const Entry &entry)
{
    return graph.node(entry.node).name + ':' + std::to_string(entry.output) + ':'
        + std::to_string(entry.version);
}

std::map<std::string, std::string> exactTexts(const Graph &graph)
{
    std::map<std::string, std::string> nodes;
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        const NodeDef &node = graph.node(id);
        std::string text = node.op + " {";
        for (const auto &[key, value] : node.attributes)
            text += key + '=' + value + ' ';
        text += "} (";
        for (const Entry &entry : graph.inputs(id))
            text += entryText(graph, entry) + ' ';
        text += ") after (";
        for (const NodeId dependency : graph.controlDependencies(id))
            text += graph.node(dependency).name + ' ';
        text += ')';
        for (const auto &body : node.subgraphs) {
            for (const auto &[name, inside] : exactTexts(*body))
                text += "\n    " + name + ": " + inside;
        }
        nodes[node.name] = text;
    }
    std::string heads;
    for (const Entry &head : graph.heads())
        heads += entryText(graph, head) + ' ';
    nodes["(heads)"] = heads;
    return nodes;
}

} // namespace

Graph replay(const Graph &source, const rewrite::Conversion &log)
{
    return Replay(source, log).run();
}

std::string exactDifference(const Graph &got, const Graph &want)
{
    const auto gotTexts = exactTexts(got);
    const auto wantTexts = exactTexts(want);
    for (const auto &[name, text] : wantTexts) {
        const auto found = gotTexts.find(name);
        if (found == gotTexts.end())
            return "missing " + name + ": " + text;
        if (found->second != text)
            return name + ": " + found->second + ", expected " + text;
    }
    for (const auto &[name, text] : gotTexts) {
        if (!wantTexts.contains(name))
            return "extra " + name + ": " + text;
    }
    return got.metadata() == want.metadata() ? std::string() : "metadata differ";
}

} // namespace halftone::test
