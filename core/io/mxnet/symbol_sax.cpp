#include "core/io/mxnet/symbol_sax.h"

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/io/mxnet/json_text.h"

#include <array>
#include <limits>
#include <optional>
#include <span>

namespace halftone::io {
namespace {

constexpr std::size_t kMostNamedNotes = 8;

/// What the innermost open bracket holds.
enum class At : std::uint8_t
{
    Document,
    Graph,
    Nodes,
    Node,
    Dictionary, ///< attribute texts
    Inputs,
    Heads,
    Entry,
    ControlDeps,
    Subgraphs,
    ArgNodes,
    RowPointers, ///< checked as numbers and dropped: a writer computes them again
    Metadata,
    Json, ///< a metadata value, kept as text
    Ignored,
    Text, ///< no bracket: the field wants a string
};

struct Field
{
    std::string_view name;
    At content;
    bool required;
};

constexpr std::array<Field, 5> kGraphFields{{{"nodes", At::Nodes, true},
                                             {"arg_nodes", At::ArgNodes, true},
                                             {"heads", At::Heads, true},
                                             {"node_row_ptr", At::RowPointers, false},
                                             {"attrs", At::Metadata, false}}};

constexpr std::array<Field, 9> kNodeFields{{{"op", At::Text, true},
                                            {"name", At::Text, true},
                                            {"inputs", At::Inputs, true},
                                            {"attrs", At::Dictionary, false},
                                            {"attr", At::Dictionary, false},
                                            {"param", At::Dictionary, false},
                                            {"control_deps", At::ControlDeps, false},
                                            {"subgraphs", At::Subgraphs, false},
                                            {"backward_source_id", At::Ignored, false}}};
constexpr std::size_t kAttrs = 3;
constexpr std::size_t kAttr = 4;

std::string namesOf(std::span<const Field> fields)
{
    std::vector<std::string> names;
    for (const Field &field : fields)
        names.emplace_back(field.name);
    return joined(names, names.size());
}

/// The events of nlohmann's SAX parser against a stack of open brackets. Every event returns false after it
/// has set m_error.
class SymbolSax
{
public:
    explicit SymbolSax(const std::stop_token &stop)
        : m_stop(stop)
    {
    }

    // NOLINTBEGIN(readability-identifier-naming): the parser calls them so
    bool null() { return scalar("null", "null"); }
    bool boolean(bool value) { return scalar(value ? "true" : "false", value ? "true" : "false"); }
    bool number_integer(std::int64_t value) { return scalar(std::to_string(value), std::to_string(value)); }
    bool number_unsigned(std::uint64_t value);
    bool number_float(double, const std::string &text) { return scalar(text, text); }
    bool string(std::string &value);
    bool binary(SortedJson::binary_t &) { return unexpected("binary data"); }
    bool start_object(std::size_t);
    bool end_object();
    bool start_array(std::size_t);
    bool end_array();
    bool key(std::string &key);
    bool parse_error(std::size_t position, const std::string &token,
                     const nlohmann::detail::exception &error);
    // NOLINTEND(readability-identifier-naming)

    std::optional<Error> m_error;
    RawGraph m_result;
    std::vector<std::string> m_repeatedAttributes; ///< paths of nodes
    std::vector<std::string> m_mergedAttributes;

private:
    struct Frame
    {
        At at = At::Document;
        std::size_t begun = 0; ///< elements of an array
        const Field *field = nullptr; ///< the key of an object whose fields are known
        std::string key; ///< the key of a dictionary
    };

    /// A graph that is being read, with what was seen of it and of its current node.
    struct Level
    {
        RawGraph graph;
        unsigned graphFields = 0;
        unsigned nodeFields = 0;
        std::vector<graph::Attributes::Item> attributes;
    };

    Frame &top() { return m_frames.back(); }
    Level &level() { return m_levels.back(); }
    RawNode &node() { return level().graph.nodes.back(); }
    At wanted() const;

    bool push(At at);
    void pop();
    bool scalar(std::string_view found, std::string_view json);
    bool keepId(std::uint32_t value);
    bool keepInEntry(std::uint32_t value);
    bool startGraph();
    bool startNode();
    bool endNode();
    bool endGraph();
    bool endEntry();
    bool findField(std::span<const Field> fields, unsigned &seen, const std::string &key);
    bool checkRequired(std::span<const Field> fields, unsigned seen, std::string_view what);
    void capture(std::string_view json);
    void endCapture();

    bool fail(std::string found, std::string expected);
    bool unexpected(std::string_view found);
    std::string path() const;

    const std::stop_token &m_stop;
    std::vector<Frame> m_frames{1};
    std::vector<Level> m_levels;
    std::vector<graph::Entry> *m_entries = nullptr; ///< where the entry being read belongs
    std::string m_json; ///< the metadata value being captured
};

// --- errors
// -----------------------------------------------------------------------------------------------------------------------------

std::string SymbolSax::path() const
{
    std::string text;
    for (const Frame &frame : m_frames) {
        if (frame.field != nullptr)
            (text += text.empty() ? "" : ".") += frame.field->name;
        else if (!frame.key.empty())
            text += "." + printable(frame.key, 100);
        else if (frame.begun > 0 && frame.at != At::Document)
            text += "[" + std::to_string(frame.begun - 1) + "]";
    }
    return text.empty() ? "top level" : text;
}

bool SymbolSax::fail(std::string found, std::string expected)
{
    m_error = badInput(path(), std::move(found), std::move(expected));
    return false;
}

bool SymbolSax::unexpected(std::string_view found)
{
    switch (wanted()) {
    case At::Document:
        return fail(std::string(found), "an object; a symbol starts with {");
    case At::Text:
        return fail(std::string(found), "a string");
    case At::Entry:
        return fail(std::string(found), "a whole number from 0 to 4294967295");
    case At::Graph:
    case At::Node:
    case At::Dictionary:
    case At::Metadata:
        return fail(std::string(found), "an object");
    default:
        return fail(std::string(found), "a list");
    }
}

bool SymbolSax::parse_error(std::size_t position, const std::string &,
                            const nlohmann::detail::exception &error)
{
    // The library's text is "[…] parse error at line L, column C: WHAT"; the offset already says where.
    std::string what = error.what();
    const std::size_t column = what.find("column ");
    if (const std::size_t colon = what.find(": ", column);
        column != std::string::npos && colon != std::string::npos)
        what.erase(0, colon + 2);
    m_error = badInput("byte " + std::to_string(position), "invalid JSON: " + printable(what, 160));
    return false;
}

// --- brackets
// ---------------------------------------------------------------------------------------------------------------------------

/// What the schema wants as the next value.
At SymbolSax::wanted() const
{
    const Frame &frame = m_frames.back();
    switch (frame.at) {
    case At::Graph:
    case At::Node:
        return frame.field->content;
    case At::Nodes:
        return At::Node;
    case At::Subgraphs:
        return At::Graph;
    case At::Inputs:
    case At::Heads:
        return At::Inputs;
    case At::Entry:
    case At::ArgNodes:
    case At::ControlDeps:
    case At::RowPointers:
        return At::Entry;
    case At::Dictionary:
        return At::Text;
    case At::Metadata:
        return At::Json;
    default:
        return frame.at;
    }
}

bool SymbolSax::push(At at)
{
    if (m_frames.size() > kDeepestJson)
        return fail("brackets nested more than " + std::to_string(kDeepestJson) + " deep", {});
    m_frames.push_back({at, 0, nullptr, {}});
    return true;
}

void SymbolSax::pop()
{
    m_frames.pop_back();
}

bool SymbolSax::start_object(std::size_t)
{
    if (m_stop.stop_requested()) {
        m_error = cancelled();
        return false;
    }
    ++top().begun;
    switch (wanted()) {
    case At::Document:
    case At::Graph:
        return startGraph();
    case At::Node:
        return startNode();
    case At::Dictionary:
        return push(At::Dictionary);
    case At::Metadata:
        return push(At::Metadata);
    case At::Json:
        capture("{");
        return push(At::Json);
    case At::Ignored:
        return push(At::Ignored);
    default:
        return unexpected("an object");
    }
}

bool SymbolSax::start_array(std::size_t)
{
    ++top().begun;
    const At at = wanted();
    switch (at) {
    case At::Inputs:
        if (top().at != At::Node) {
            m_entries->emplace_back();
            return push(At::Entry);
        }
        m_entries = &level().graph.inputs;
        node().firstInput = static_cast<std::uint32_t>(m_entries->size());
        return push(at);
    case At::Heads:
        m_entries = &level().graph.heads;
        return push(at);
    case At::Nodes:
    case At::ControlDeps:
    case At::Subgraphs:
    case At::ArgNodes:
    case At::RowPointers:
    case At::Ignored:
        return push(at);
    case At::Json:
        capture("[");
        return push(At::Json);
    default:
        return unexpected("a list");
    }
}

bool SymbolSax::end_object()
{
    switch (top().at) {
    case At::Graph:
        return endGraph();
    case At::Node:
        return endNode();
    case At::Json:
        m_json += '}';
        endCapture();
        return true;
    default:
        pop();
        return true;
    }
}

bool SymbolSax::end_array()
{
    const At at = top().at;
    if (at == At::Entry)
        return endEntry();
    if (at == At::Json) {
        m_json += ']';
        endCapture();
        return true;
    }
    pop();
    if (at == At::Inputs)
        node().inputCount = static_cast<std::uint32_t>(level().graph.inputs.size() - node().firstInput);
    return true;
}

// --- graphs, nodes, entries
// -------------------------------------------------------------------------------------------------------------

bool SymbolSax::startGraph()
{
    if (!push(At::Graph))
        return false;
    m_levels.emplace_back();
    return true;
}

bool SymbolSax::endGraph()
{
    top().begun = 0;
    top().field = nullptr;
    if (!checkRequired(kGraphFields, level().graphFields, "graph"))
        return false;
    pop();
    RawGraph graph = std::move(level().graph);
    m_levels.pop_back();
    if (m_levels.empty())
        m_result = std::move(graph);
    else
        level().graph.subgraphs[level().graph.nodes.size() - 1].push_back(std::move(graph));
    return true;
}

bool SymbolSax::startNode()
{
    if (!push(At::Node))
        return false;
    level().graph.nodes.push_back({std::make_shared<graph::NodeDef>(), 0, 0, nullptr});
    level().nodeFields = 0;
    level().attributes.clear();
    return true;
}

bool SymbolSax::endNode()
{
    top().begun = 0;
    top().field = nullptr;
    const unsigned seen = level().nodeFields;
    if (!checkRequired(kNodeFields, seen, "node"))
        return false;
    const std::size_t written = level().attributes.size();
    node().def->attributes = graph::Attributes(std::exchange(level().attributes, {}));
    if (node().def->attributes.size() != written)
        m_repeatedAttributes.push_back(path());
    if ((seen >> kAttrs & 1U) != 0 && (seen >> kAttr & 1U) != 0)
        m_mergedAttributes.push_back(path());
    pop();
    return true;
}

bool SymbolSax::endEntry()
{
    if (top().begun < 2) {
        const std::string found = std::to_string(top().begun) + " numbers";
        top().begun = 0;
        return fail(found, "[node, output] or [node, output, version]");
    }
    pop();
    return true;
}

bool SymbolSax::keepInEntry(std::uint32_t value)
{
    graph::Entry &entry = m_entries->back();
    switch (top().begun) {
    case 1:
        entry.node = value;
        return true;
    case 2:
        entry.output = value;
        return true;
    case 3:
        entry.version = value;
        return true;
    default:
        top().begun = 0;
        return fail("more than 3 numbers", "[node, output] or [node, output, version]");
    }
}

bool SymbolSax::keepId(std::uint32_t value)
{
    RawGraph &graph = level().graph;
    switch (top().at) {
    case At::Entry:
        return keepInEntry(value);
    case At::ArgNodes:
        graph.argNodes.push_back(value);
        return true;
    case At::ControlDeps:
        graph.controlDependencies[graph.nodes.size() - 1].push_back(value);
        return true;
    default:
        return true;
    }
}

// --- keys and values
// --------------------------------------------------------------------------------------------------------------------

bool SymbolSax::findField(std::span<const Field> fields, unsigned &seen, const std::string &key)
{
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].name != key)
            continue;
        top().field = &fields[i];
        const bool isRepeated = (seen >> i & 1U) != 0;
        seen |= 1U << i;
        // Repeated attribute dictionaries are merged as their three names are.
        return !isRepeated || fields[i].content == At::Dictionary || fail("duplicate key", {});
    }
    top().field = nullptr;
    top().begun = 0;
    return fail("unknown key \"" + printable(key, 60) + "\"", "one of " + namesOf(fields));
}

bool SymbolSax::checkRequired(std::span<const Field> fields, unsigned seen, std::string_view what)
{
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].required && (seen >> i & 1U) == 0)
            return fail("a " + std::string(what) + " without \"" + std::string(fields[i].name) + "\"", {});
    }
    return true;
}

bool SymbolSax::key(std::string &key)
{
    switch (top().at) {
    case At::Graph:
        return findField(kGraphFields, level().graphFields, key);
    case At::Node:
        return findField(kNodeFields, level().nodeFields, key);
    case At::Dictionary:
        top().key = std::move(key);
        return true;
    case At::Metadata:
        top().key = std::move(key);
        m_json.clear();
        return true;
    case At::Json:
        m_json += top().begun > 0 ? ", " : "";
        appendQuoted(m_json, key);
        m_json += ": ";
        top().key = std::move(key);
        return true;
    default:
        return true;
    }
}

/// Keeps a piece of a metadata value. Elements of a list are parted here, members of an object by their keys.
void SymbolSax::capture(std::string_view json)
{
    if (top().at == At::Json && top().key.empty() && top().begun > 1)
        m_json += ", ";
    m_json += json;
    if (top().at == At::Metadata && json != "{" && json != "[")
        level().graph.metadata.emplace_back(top().key, m_json);
}

void SymbolSax::endCapture()
{
    pop();
    if (top().at == At::Metadata)
        level().graph.metadata.emplace_back(top().key, m_json);
}

bool SymbolSax::scalar(std::string_view found, std::string_view json)
{
    ++top().begun;
    switch (wanted()) {
    case At::Json:
        capture(json);
        return true;
    case At::Ignored:
        return true;
    default:
        return unexpected(found);
    }
}

bool SymbolSax::number_unsigned(std::uint64_t value)
{
    if (wanted() != At::Entry)
        return scalar(std::to_string(value), std::to_string(value));
    ++top().begun;
    if (value > std::numeric_limits<std::uint32_t>::max())
        return unexpected(std::to_string(value));
    return keepId(static_cast<std::uint32_t>(value));
}

bool SymbolSax::string(std::string &value)
{
    if (wanted() != At::Text) {
        std::string quoted;
        appendQuoted(quoted, value);
        return scalar(printable(quoted, 60), quoted);
    }
    ++top().begun;
    if (top().at == At::Dictionary)
        level().attributes.emplace_back(top().key, std::move(value));
    else if (top().field == &kNodeFields[0])
        nameOperator(*node().def, std::move(value));
    else
        node().def->name = std::move(value);
    return true;
}

void tell(std::vector<std::string> &notes, std::vector<std::string> paths, std::string_view what)
{
    if (!paths.empty())
        notes.push_back(joined(paths, kMostNamedNotes) + ": " + std::string(what));
}

} // namespace

Result<RawGraph> parseSymbol(std::string_view json, std::vector<std::string> &notes,
                             const std::stop_token &stop)
{
    // The parser takes a NUL for the end of the text, whatever follows.
    if (const std::size_t nul = json.find('\0'); nul != std::string_view::npos)
        return badInput("byte " + std::to_string(nul), "a NUL byte", "text");
    SymbolSax sax(stop);
    if (!SortedJson::sax_parse(json.begin(), json.end(), &sax))
        return std::move(*sax.m_error);
    tell(notes, std::move(sax.m_repeatedAttributes),
         "an attribute is given more than once; the last one is used");
    tell(notes, std::move(sax.m_mergedAttributes),
         "both \"attrs\" and \"attr\" are given and were merged; MXNet keeps only the later one");
    return std::move(sax.m_result);
}

} // namespace halftone::io
