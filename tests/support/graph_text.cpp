#include "tests/support/graph_text.h"

#include <map>

namespace halftone::test {
namespace {

using graph::Entry;
using graph::Graph;

std::string text(const Graph &graph, const Entry &entry)
{
    return graph.node(entry.node).name + ':' + std::to_string(entry.output);
}

std::map<std::string, std::string> nodeTexts(const Graph &graph)
{
    std::map<std::string, std::string> nodes;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        std::string line = node.op + " {";
        for (const auto &[key, value] : node.attributes)
            line += key + '=' + value + ' ';
        line += "} (";
        for (const Entry &entry : graph.inputs(id))
            line += text(graph, entry) + ' ';
        line += ") subgraphs " + std::to_string(node.subgraphs.size());
        if (const auto [at, isNew] = nodes.try_emplace(node.name, line); !isNew)
            nodes.emplace(node.name + '#' + node.op, line);
    }
    return nodes;
}

} // namespace

std::string difference(const Graph &got, const Graph &want)
{
    const auto gotNodes = nodeTexts(got);
    const auto wantNodes = nodeTexts(want);
    for (const auto &[name, line] : wantNodes) {
        const auto found = gotNodes.find(name);
        if (found == gotNodes.end())
            return "missing node " + name + ": " + line;
        if (found->second != line)
            return "node " + name + ": " + found->second + ", expected " + line;
    }
    for (const auto &[name, line] : gotNodes) {
        if (!wantNodes.contains(name))
            return "extra node " + name + ": " + line;
    }
    std::string gotHeads;
    std::string wantHeads;
    for (const Entry &head : got.heads())
        gotHeads += text(got, head) + ' ';
    for (const Entry &head : want.heads())
        wantHeads += text(want, head) + ' ';
    return gotHeads == wantHeads ? std::string() : "heads " + gotHeads + ", expected " + wantHeads;
}

} // namespace halftone::test
