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
/// Position of an operator's name in Graph::operatorNames(): one small table lookup instead of a string
/// compare in every pass.
using OpIndex = std::uint32_t;

/// One output of one node. `version` counts writes to a mutable input (MXNet refers to BatchNorm's moving
/// mean with version 1).
struct Entry
{
    NodeId node = 0;
    std::uint32_t output = 0;
    std::uint32_t version = 0;

    bool operator==(const Entry &) const = default;
};

/// What a format needs to write a node or a graph back unharmed, and nobody else reads.
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

/// What a node is, apart from its wiring. Immutable and shared between the graphs that hold it, so that
/// copying a graph copies no text.
struct NodeDef
{
    std::string op; ///< the framework's operator name; of a variable the word that its format has for those
    std::string name;
    Attributes attributes;
    std::vector<std::shared_ptr<const Graph>> subgraphs{}; ///< bodies of control flow and of fused operators
    bool variable = false; ///< no operator: fed, or a parameter
    std::vector<std::pair<std::string, tensor::Tensor>>
        tensors{}; ///< attributes that are tensors, by key; what `attributes` says under that key tells of them
    std::vector<std::string>
        outputs{}; ///< what its outputs are called, where a format names values: empty, or one an output
    /// Which of the operator's inputs each input is, where a format can leave out optional ones before others;
    /// ascending, one an input. Empty: 0, 1, 2, …
    std::vector<std::uint32_t> slots{};
    std::shared_ptr<const FormatData> format{};

    bool isVariable() const { return variable; }
    std::size_t slotOf(std::size_t input) const { return input < slots.size() ? slots[input] : input; }
    /// The tensor of that key; null when there is none.
    const tensor::Tensor *tensorOf(std::string_view key) const;
};

using NodeDefPtr = std::shared_ptr<const NodeDef>;

/// A directed acyclic graph as a value: nodes are appended in topological order and never change. A pass
/// reads one graph and builds another. Holds up to 2^32 - 2 nodes; nothing in it recurses over depth,
/// destructors included.
class Graph
{
public:
    /// A graph without nodes, for want of one: it speaks no dialect.
    Graph() = default;
    /// `dialect`: whose operators its nodes are; lives as long as the program.
    explicit Graph(const dialect::Dialect &dialect)
        : m_dialect(&dialect)
    {
    }
    /// A graph without nodes that says of itself what `other` does: what a pass begins with.
    static Graph like(const Graph &other);

    /// What a node becomes that is taken over from one graph into another.
    using TakeOver = std::function<NodeDefPtr(const Graph &graph, NodeId id)>;
    /// The same graph, its bodies too, as one of another version of its dialect. `takeOver`: a node there, with the same inputs.
    static Graph inDialect(const Graph &graph, const dialect::Dialect &dialect, const TakeOver &takeOver);

    /// Appends a node. Needs: every input and control dependency names a node that is already there.
    NodeId add(NodeDefPtr def, std::span<const Entry> inputs,
               std::span<const NodeId> controlDependencies = {});

    /// Gives a node of a graph under construction other attributes. Needs: the same operator.
    void redefine(NodeId id, NodeDefPtr def);

    void reserve(std::size_t nodes, std::size_t inputs);
    void setHeads(std::vector<Entry> heads) { m_heads = std::move(heads); }
    /// What the format says of the whole graph (MXNet: "mxnet_version", "is_np_shape"), values as JSON text.
    void setMetadata(Attributes metadata) { m_metadata = std::move(metadata); }

    /// What format the nodes speak; null in a graph that was begun without. core/dialect/dialect.h has its use.
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
    } ///< the word for variables, no operator

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
    std::unordered_map<NodeId, std::vector<NodeId>> m_controlDependencies; ///< rare, so kept aside
    std::vector<Entry> m_heads;
    Attributes m_metadata;
    std::shared_ptr<const FormatData> m_format;
    std::vector<std::string> m_opNames;
    std::unordered_map<std::string, OpIndex> m_opIndex;
    OpIndex m_variableOp = kNoOp;
};

} // namespace halftone::graph
