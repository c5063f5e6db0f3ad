#pragma once

#include "core/graph/attributes.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halftone::dialect {
class Dialect;
}

namespace halftone::graph {

class Graph;

/// Position of a node in its graph.
using NodeId = std::uint32_t;
/// Index of an operator name in Graph::operatorNames(), so that passes need no string comparisons.
using OpIndex = std::uint32_t;

/// One output of one node. `version` counts writes to a mutable input (MXNet refers to the moving mean of
/// BatchNorm with version 1).
struct Entry
{
    NodeId node = 0;
    std::uint32_t output = 0;
    std::uint32_t version = 0;

    bool operator==(const Entry &) const = default;
};

/// Data that only a format needs, to write a node or graph back unchanged.
class FormatData
{
public:
    virtual ~FormatData() = default;

protected:
    FormatData() = default;
    FormatData(const FormatData &) = default;
    FormatData(FormatData &&) = default;
    FormatData &operator=(const FormatData &) = default;
    FormatData &operator=(FormatData &&) = default;
};

/// A node without its connections. Immutable and shared between graphs, so that copying a graph copies
/// no text.
struct NodeDef
{
    std::string op; ///< operator name in its format; for a variable, the name that the format uses
    std::string name;
    Attributes attributes;
    std::vector<std::shared_ptr<const Graph>> subgraphs{}; ///< bodies of control flow and of fused operators
    bool variable = false; ///< an input or a parameter, not an operator
    std::vector<std::pair<std::string, tensor::Tensor>>
        tensors{}; ///< tensor attributes by key; `attributes` describes them under the same key
    std::vector<std::string>
        outputs{}; ///< names of its outputs, in formats that name values; empty, or one per output
    /// The operator's slot of each input, in formats that can omit optional inputs before others; ascending, one per
    /// input. Empty: 0, 1, 2, …
    std::vector<std::uint32_t> slots{};
    std::shared_ptr<const FormatData> format{};

    bool isVariable() const { return variable; }
    std::size_t slotOf(std::size_t input) const { return input < slots.size() ? slots[input] : input; }
    /// The tensor attribute with that key; null: none.
    const tensor::Tensor *tensorOf(std::string_view key) const;
};

using NodeDefPtr = std::shared_ptr<const NodeDef>;

/// A directed acyclic graph as a value. Nodes are appended in topological order and never change: a pass reads
/// one graph and builds another. Holds up to 2^32 - 2 nodes; nothing recurses over depth, including destructors.
class Graph
{
public:
    /// An empty graph without a dialect.
    Graph() = default;
    /// `dialect`: the format of its operators; lives as long as the program.
    explicit Graph(const dialect::Dialect &dialect)
        : m_dialect(&dialect)
    {
    }
    /// An empty graph with the dialect and graph attributes of `other`, to start a pass.
    static Graph like(const Graph &other);

    /// Maps a node when it is copied to another graph.
    using TakeOver = std::function<NodeDefPtr(const Graph &graph, NodeId id)>;
    /// The same graph, including bodies, in another version of its dialect. `takeOver`: maps each node, with the same inputs.
    static Graph inDialect(const Graph &graph, const dialect::Dialect &dialect, const TakeOver &takeOver);

    /// Appends a node. Needs: all inputs and control dependencies refer to existing nodes.
    NodeId add(NodeDefPtr def, std::span<const Entry> inputs,
               std::span<const NodeId> controlDependencies = {});

    /// Replaces the attributes of a node of a graph under construction. Needs: the same operator.
    void redefine(NodeId id, NodeDefPtr def);

    void reserve(std::size_t nodes, std::size_t inputs);
    void setHeads(std::vector<Entry> heads) { m_heads = std::move(heads); }
    /// Attributes of the whole graph (MXNet: "mxnet_version", "is_np_shape"), with values as JSON text.
    void setMetadata(Attributes metadata) { m_metadata = std::move(metadata); }

    /// The format of the nodes; null for a graph without one. See core/dialect/dialect.h.
    const dialect::Dialect *dialect() const { return m_dialect; }

    std::size_t nodeCount() const { return m_nodes.size(); }
    const NodeDef &node(NodeId id) const { return *m_nodes[id].def; }
    const NodeDefPtr &sharedNode(NodeId id) const { return m_nodes[id].def; }
    bool isVariable(NodeId id) const { return m_nodes[id].op == m_variableOp; }
    std::span<const Entry> inputs(NodeId id) const;
    std::span<const NodeId> controlDependencies(NodeId id) const;
    std::span<const Entry> heads() const { return m_heads; }
    const Attributes &metadata() const { return m_metadata; }
    void setFormat(std::shared_ptr<const FormatData> format) { m_format = std::move(format); }
    const std::shared_ptr<const FormatData> &format() const { return m_format; }

    /// The distinct operator names, in order of first appearance; opOf() indexes it.
    std::span<const std::string> operatorNames() const { return m_opNames; }
    OpIndex opOf(NodeId id) const { return m_nodes[id].op; }
    bool isVariableOp(OpIndex op) const
    {
        return op == m_variableOp;
    } ///< the name for variables, not an operator

private:
    static constexpr OpIndex kNoOp = std::numeric_limits<OpIndex>::max();

    struct Row
    {
        NodeDefPtr def;
        std::uint32_t firstInput = 0;
        std::uint32_t inputCount = 0;
        OpIndex op = 0;
    };

    OpIndex indexOf(const NodeDef &def);

    const dialect::Dialect *m_dialect = nullptr;
    std::vector<Row> m_nodes;
    std::vector<Entry> m_inputs;
    std::unordered_map<NodeId, std::vector<NodeId>> m_controlDependencies; ///< rare, so stored separately
    std::vector<Entry> m_heads;
    Attributes m_metadata;
    std::shared_ptr<const FormatData> m_format;
    std::vector<std::string> m_opNames;
    std::unordered_map<std::string, OpIndex> m_opIndex;
    OpIndex m_variableOp = kNoOp;
};

} // namespace halftone::graph
