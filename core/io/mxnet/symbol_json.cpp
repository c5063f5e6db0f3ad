#include "core/io/mxnet/symbol_json.h"

#include "core/base/text.h"
#include "core/io/mxnet/symbol_raw.h"
#include "core/io/mxnet/symbol_sax.h"
#include "core/io/mxnet/symbol_upgrade.h"
#include "core/io/mxnet/symbol_wiring.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_set>

namespace halftone::io {
namespace {

namespace mx = dialect::mxnet;

/// Passes keep a few bytes for every output, so a claim of billions of them ("num_outputs") must not get
/// through.
constexpr std::size_t kMostOutputs = std::size_t{1} << 20;
constexpr std::size_t kMostOutputsPerNode = 16;

std::string describe(const graph::NodeDef &def)
{
    return printable(def.op, 60) + " \"" + printable(def.name, 100) + "\"";
}

/// The version that a symbol says it was written by.
Result<std::int64_t> versionOf(const graph::Attributes &metadata)
{
    const std::string *const text = metadata.find("mxnet_version");
    if (text == nullptr)
        return kUnmarkedVersion;
    constexpr std::string_view kStart = "[\"int\", ";
    const std::string_view json = *text;
    if (json.starts_with(kStart) && json.ends_with(']')) {
        const auto number = parseInteger(json.substr(kStart.size(), json.size() - kStart.size() - 1));
        if (number && *number >= 0)
            return *number;
    }
    return badInput("attrs.mxnet_version", printable(json, 60), "[\"int\", number]");
}

/// Turns checked raw graphs into graphs; remembers across a symbol and its subgraphs what is worth a note.
class Builder
{
public:
    explicit Builder(std::int64_t version)
        : m_version(version)
    {
    }

    Result<graph::Graph> build(RawGraph raw, const std::string &path);
    void tell(std::vector<std::string> &notes) const;

private:
    void nameOperators(RawGraph &raw);
    void findRepeatedNames(const RawGraph &raw);
    Result<void> checkOperator(const RawNode &node, const std::string &path, std::size_t id);
    Result<void> checkInputs(const RawGraph &raw, const std::string &path, std::size_t id) const;
    Result<void> checkHeads(const RawGraph &raw, const std::string &path) const;
    Result<void> countOutputs(const RawGraph &raw, const std::string &path);
    Result<void> buildSubgraphs(RawGraph &raw, std::size_t id, const std::string &path);

    std::int64_t m_version;
    std::vector<std::size_t> m_outputs; ///< of the nodes of the graph at hand; 0 where any index will do
    std::map<std::string, std::size_t> m_unknownOps;
    std::vector<std::string> m_repeatedNames;
    std::vector<std::string> m_oddAttributes;
};

void Builder::nameOperators(RawGraph &raw)
{
    for (RawNode &node : raw.nodes) {
        if (node.def->isVariable())
            continue;
        node.op = mx::findOp(node.def->op);
        if (node.op != nullptr)
            node.def->op = node.op->name;
        else
            ++m_unknownOps[printable(node.def->op, 60)];
    }
}

void Builder::findRepeatedNames(const RawGraph &raw)
{
    std::unordered_set<std::string_view> names;
    names.reserve(raw.nodes.size());
    for (const RawNode &node : raw.nodes) {
        if (!names.insert(node.def->name).second)
            m_repeatedNames.push_back("\"" + printable(node.def->name, 100) + "\"");
    }
}

Result<void> Builder::checkOperator(const RawNode &node, const std::string &path, std::size_t id)
{
    if (node.def->op.empty())
        return badInput(nodePath(path, id) + ".op", "an empty operator name");
    if (node.op == nullptr)
        return {};
    if (const Result<void> outcome = mx::checkAttributes(*node.op, node.def->attributes); !outcome.ok()) {
        const Error &error = outcome.error();
        const std::string attribute = error.where.empty() ? std::string() : error.where + ": ";
        // An operator of a later MXNet may have learnt something; a graph that is kept as it is stays useful.
        if (m_version <= kCurrentVersion)
            return badInput(nodePath(path, id), describe(*node.def) + ": " + attribute + error.found,
                            error.expected);
        m_oddAttributes.push_back(describe(*node.def) + ": " + attribute + error.found);
    }
    const auto wanted = mx::inputCount(*node.op, node.def->attributes);
    if (wanted && *wanted != node.inputCount) {
        return badInput(nodePath(path, id) + ".inputs",
                        describe(*node.def) + " with " + std::to_string(node.inputCount) + " inputs",
                        std::to_string(*wanted));
    }
    return {};
}

/// Fills m_outputs. Needs the attributes checked, since the number may stand in one.
Result<void> Builder::countOutputs(const RawGraph &raw, const std::string &path)
{
    m_outputs.assign(raw.nodes.size(), 0);
    std::size_t left = kMostOutputs + kMostOutputsPerNode * raw.nodes.size();
    const auto spend = [&](std::size_t count, std::size_t id) -> Result<void> {
        if (count > left) {
            return badInput(nodePath(path, id),
                            describe(*raw.nodes[id].def) + " with " + std::to_string(count) + " outputs",
                            "at most " + std::to_string(kMostOutputs) + " in a graph");
        }
        left -= count;
        return {};
    };
    for (std::size_t id = 0; id < raw.nodes.size(); ++id) {
        const RawNode &node = raw.nodes[id];
        if (node.op == nullptr && !node.def->isVariable())
            continue;
        m_outputs[id] = node.op == nullptr ? 1 : mx::outputCount(*node.op, node.def->attributes);
        if (m_outputs[id] >= mx::kMaxOutputs) {
            return badInput(nodePath(path, id),
                            describe(*node.def) + " with " + std::to_string(mx::kMaxOutputs)
                                + " outputs or more",
                            "fewer");
        }
        HALFTONE_CHECK(spend(m_outputs[id], id));
    }
    // An unknown operator has the outputs that are read.
    std::map<std::size_t, std::size_t> read;
    for (const auto *const entries : {&raw.inputs, &raw.heads}) {
        for (const graph::Entry &entry : *entries) {
            if (const RawNode &node = raw.nodes[entry.node]; node.op == nullptr && !node.def->isVariable())
                read[entry.node] = std::max(read[entry.node], std::size_t{entry.output} + 1);
        }
    }
    for (const auto &[id, count] : read)
        HALFTONE_CHECK(spend(count, id));
    return {};
}

Result<void> Builder::checkInputs(const RawGraph &raw, const std::string &path, std::size_t id) const
{
    const auto inputs = raw.inputsOf(raw.nodes[id]);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::size_t outputs = m_outputs[inputs[i].node];
        if (outputs != 0 && inputs[i].output >= outputs) {
            return badInput(nodePath(path, id) + ".inputs[" + std::to_string(i) + "]",
                            "output " + std::to_string(inputs[i].output) + " of "
                                + describe(*raw.nodes[inputs[i].node].def),
                            "less than its " + std::to_string(outputs) + " outputs");
        }
    }
    return {};
}

Result<void> Builder::checkHeads(const RawGraph &raw, const std::string &path) const
{
    for (std::size_t i = 0; i < raw.heads.size(); ++i) {
        const std::size_t outputs = m_outputs[raw.heads[i].node];
        if (outputs != 0 && raw.heads[i].output >= outputs) {
            return badInput(path + "heads[" + std::to_string(i) + "]",
                            "output " + std::to_string(raw.heads[i].output) + " of "
                                + describe(*raw.nodes[raw.heads[i].node].def),
                            "less than its " + std::to_string(outputs) + " outputs");
        }
    }
    return {};
}

// Recursion goes as deep as subgraphs nest, which kDeepestJson bounds.
Result<void> Builder::buildSubgraphs(RawGraph &raw, std::size_t id, const std::string &path)
{
    const auto found = raw.subgraphs.find(id);
    if (found == raw.subgraphs.end())
        return {};
    for (std::size_t i = 0; i < found->second.size(); ++i) {
        Builder inner(m_version);
        std::swap(inner.m_unknownOps, m_unknownOps);
        auto body = inner.build(std::move(found->second[i]),
                                nodePath(path, id) + ".subgraphs[" + std::to_string(i) + "].");
        std::swap(inner.m_unknownOps, m_unknownOps);
        if (!body.ok())
            return std::move(body).error();
        raw.nodes[id].def->subgraphs.push_back(std::make_shared<const graph::Graph>(std::move(body).value()));
    }
    return {};
}

Result<graph::Graph> Builder::build(RawGraph raw, const std::string &path)
{
    HALFTONE_CHECK(checkWiring(raw, path));
    nameOperators(raw);
    upgrade(raw, m_version);
    findRepeatedNames(raw);
    for (std::size_t id = 0; id < raw.nodes.size(); ++id)
        HALFTONE_CHECK(checkOperator(raw.nodes[id], path, id));
    HALFTONE_CHECK(countOutputs(raw, path));
    HALFTONE_CHECK(checkHeads(raw, path));

    graph::Graph graph(mx::mxnetDialect());
    graph.reserve(raw.nodes.size(), raw.inputs.size());
    for (std::size_t id = 0; id < raw.nodes.size(); ++id) {
        HALFTONE_CHECK(checkInputs(raw, path, id));
        HALFTONE_CHECK(buildSubgraphs(raw, id, path));
        const auto dependencies = raw.controlDependencies.find(id);
        graph.add(raw.nodes[id].def, raw.inputsOf(raw.nodes[id]),
                  dependencies == raw.controlDependencies.end() ? std::span<const std::uint32_t>()
                                                                : dependencies->second);
    }
    graph.setHeads(std::move(raw.heads));
    graph.setMetadata(graph::Attributes(std::move(raw.metadata)));
    return graph;
}

void Builder::tell(std::vector<std::string> &notes) const
{
    if (m_version > kCurrentVersion) {
        notes.push_back("written by MXNet version " + std::to_string(m_version) + ", which is newer than "
                        + std::to_string(kCurrentVersion) + "; read as that version");
    }
    if (!m_repeatedNames.empty())
        notes.push_back("names used by several nodes: " + joined(m_repeatedNames));
    if (!m_oddAttributes.empty())
        notes.push_back("attributes unknown to MXNet 1.9.1: " + joined(m_oddAttributes));
    std::vector<std::string> unknown;
    for (const auto &[op, count] : m_unknownOps)
        unknown.push_back(op + " (" + std::to_string(count) + ")");
    if (!unknown.empty())
        notes.push_back("operators unknown to MXNet 1.9.1, kept unchanged: " + joined(unknown));
}

} // namespace

Result<graph::Graph> readSymbol(std::string_view json, std::vector<std::string> &notes,
                                const std::stop_token &stop)
{
    if (json.size() > std::numeric_limits<std::uint32_t>::max())
        return badInput({}, "a symbol of " + std::to_string(json.size()) + " bytes", "less than 4 GiB");
    HALFTONE_TRY(RawGraph raw, parseSymbol(json, notes, stop));
    HALFTONE_TRY(const std::int64_t version, versionOf(graph::Attributes(raw.metadata)));
    Builder builder(version);
    HALFTONE_TRY(graph::Graph graph, builder.build(std::move(raw), {}));
    builder.tell(notes);
    return graph;
}

graph::Graph emptySymbol()
{
    return graph::Graph(mx::mxnetDialect());
}

} // namespace halftone::io
