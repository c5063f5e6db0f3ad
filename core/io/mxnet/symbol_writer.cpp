#include "core/dialect/mxnet/op_info.h"
#include "core/io/mxnet/json_text.h"
#include "core/io/mxnet/symbol_json.h"
#include "core/io/mxnet/symbol_upgrade.h"

#include <algorithm>

namespace halftone::io {
namespace {

namespace mx = dialect::mxnet;

/// Lists up to this length stand on one line, as MXNet has it.
constexpr std::size_t kLongestLine = 10;

/// Writes one graph; its subgraphs by recursion, which the reader's limit on nesting bounds.
class SymbolWriter
{
public:
    explicit SymbolWriter(std::string &out)
        : m_json(out)
    {
    }

    void write(const graph::Graph &graph, bool isWhole);

private:
    void writeEntries(std::span<const graph::Entry> entries);
    void writeIds(std::span<const graph::NodeId> ids);
    void writeNode(const graph::Graph &graph, graph::NodeId id);
    void writeAttributes(const graph::Attributes &attributes);
    void writeMetadata(const graph::Attributes &metadata);

    JsonWriter m_json;
};

/// Running sum of outputs, hidden ones counted. Unknown operators have the outputs that are read, and at
/// least one.
std::vector<std::uint32_t> outputRows(const graph::Graph &graph)
{
    std::vector<std::uint32_t> counts(graph.nodeCount() + 1, 0);
    std::vector<bool> isUnknown(graph.nodeCount(), false);
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const mx::OpInfo *const op = graph.isVariable(id) ? nullptr : mx::findOp(graph.node(id).op);
        isUnknown[id] = op == nullptr && !graph.isVariable(id);
        counts[id + 1]
            = op == nullptr ? 1 : static_cast<std::uint32_t>(mx::outputCount(*op, graph.node(id).attributes));
    }
    const auto countRead = [&](std::span<const graph::Entry> entries) {
        for (const graph::Entry &entry : entries) {
            if (isUnknown[entry.node])
                counts[entry.node + 1] = std::max(counts[entry.node + 1], entry.output + 1);
        }
    };
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        countRead(graph.inputs(id));
    countRead(graph.heads());
    for (std::size_t i = 1; i < counts.size(); ++i)
        counts[i] += counts[i - 1];
    return counts;
}

void SymbolWriter::writeEntries(std::span<const graph::Entry> entries)
{
    m_json.beginArray(entries.size() > kLongestLine);
    for (const graph::Entry &entry : entries) {
        m_json.element();
        m_json.verbatim("[" + std::to_string(entry.node) + ", " + std::to_string(entry.output) + ", "
                        + std::to_string(entry.version) + "]");
    }
    m_json.endArray();
}

void SymbolWriter::writeIds(std::span<const graph::NodeId> ids)
{
    m_json.beginArray(ids.size() > kLongestLine);
    for (const graph::NodeId id : ids) {
        m_json.element();
        m_json.number(id);
    }
    m_json.endArray();
}

void SymbolWriter::writeAttributes(const graph::Attributes &attributes)
{
    m_json.beginObject(attributes.size() > 1);
    for (const auto &[key, value] : attributes) {
        m_json.key(key);
        m_json.text(value);
    }
    m_json.endObject();
}

void SymbolWriter::writeNode(const graph::Graph &graph, graph::NodeId id)
{
    const graph::NodeDef &def = graph.node(id);
    m_json.beginObject(true);
    m_json.key("op");
    m_json.text(def.op);
    m_json.key("name");
    m_json.text(def.name);
    if (!def.attributes.empty()) {
        m_json.key("attrs");
        writeAttributes(def.attributes);
    }
    m_json.key("inputs");
    writeEntries(graph.inputs(id));
    if (const auto dependencies = graph.controlDependencies(id); !dependencies.empty()) {
        m_json.key("control_deps");
        writeIds(dependencies);
    }
    if (!def.subgraphs.empty()) {
        m_json.key("subgraphs");
        m_json.beginArray(def.subgraphs.size() > kLongestLine);
        for (const auto &body : def.subgraphs) {
            m_json.element();
            write(*body, false);
        }
        m_json.endArray();
    }
    m_json.endObject();
}

void SymbolWriter::writeMetadata(const graph::Attributes &metadata)
{
    graph::Attributes all = metadata;
    const std::string current = "[\"int\", " + std::to_string(kCurrentVersion) + "]";
    // An older version was upgraded on load; a newer one was not changed, and its digits compare as text
    // where they are as many.
    const std::string *const stored = metadata.find("mxnet_version");
    if (stored == nullptr || stored->size() < current.size()
        || (stored->size() == current.size() && *stored < current))
        all.set("mxnet_version", current);
    m_json.beginObject(all.size() > 1);
    for (const auto &[key, value] : all) {
        m_json.key(key);
        m_json.verbatim(value);
    }
    m_json.endObject();
}

void SymbolWriter::write(const graph::Graph &graph, bool isWhole)
{
    m_json.beginObject(true);
    m_json.key("nodes");
    m_json.beginArray(graph.nodeCount() > kLongestLine);
    std::vector<graph::NodeId> variables;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        m_json.element();
        writeNode(graph, id);
        if (graph.isVariable(id))
            variables.push_back(id);
    }
    m_json.endArray();
    m_json.key("arg_nodes");
    writeIds(variables);
    m_json.key("node_row_ptr");
    writeIds(outputRows(graph));
    m_json.key("heads");
    writeEntries(graph.heads());
    if (isWhole) {
        m_json.key("attrs");
        writeMetadata(graph.metadata());
    }
    m_json.endObject();
}

} // namespace

std::string writeSymbol(const graph::Graph &graph)
{
    constexpr std::size_t kBytesPerNode = 256;
    std::string out;
    out.reserve(graph.nodeCount() * kBytesPerNode);
    SymbolWriter(out).write(graph, true);
    return out;
}

} // namespace halftone::io
