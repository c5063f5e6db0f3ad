#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/io/onnx/function_body.h"
#include "core/io/onnx/source.h"
#include "core/tensor/tensor.h"

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace halftone::io::onnx {

/// What all graphs of one file share while it is read.
struct ReadContext
{
    std::shared_ptr<Source> source;
    const dialect::Dialect *dialect = nullptr;
    std::unordered_set<std::string> domains; ///< imported, or of functions
    const Functions *functions = nullptr;
    BodyBudget *budget = nullptr; ///< what bodies of calls may still be
    int depth = 0; ///< of calls around the graph
    std::stop_token stop{};
    std::vector<tensor::Array> parameters{}; ///< of the main graph
};

/// Old files leave the type out: then it is the field that is set.
::onnx::AttributeProto::AttributeType typeOf(const ::onnx::AttributeProto &attribute);

/// Reads one graph of a file; bodies of its nodes are read by readers of their own.
class GraphReader
{
public:
    /// `outer`: of the graph around a body; null for the main graph. `firstCaptured`: how many values other bodies of the
    /// same node capture.
    GraphReader(ReadContext &context, const ::onnx::GraphProto &proto, GraphReader *outer,
                std::size_t firstCaptured = 0)
        : m_context(context)
        , m_proto(proto)
        , m_outer(outer)
        , m_firstCaptured(firstCaptured)
    {
    }

    Result<graph::Graph> read();

    /// What the graph reads of those around it, in the order of its variables that stand for them.
    const std::vector<std::string> &captured() const { return m_captured; }

private:
    Result<void> addVariables();
    Result<void> addInput(const ::onnx::ValueInfoProto &input);
    Result<void> addInitializer(const ::onnx::TensorProto &tensor);
    Result<void> addSparse(const ::onnx::SparseTensorProto &sparse);
    Result<void> addNode(const ::onnx::NodeProto &node, std::size_t index);
    Result<void> checkNode(const ::onnx::NodeProto &node, const std::string &where) const;
    Result<void> readAttributes(const ::onnx::NodeProto &node, graph::NodeDef &def, const std::string &where);
    Result<void> readAttribute(const ::onnx::AttributeProto &attribute, graph::NodeDef &def,
                               const std::string &where);
    Result<void> readInputs(const ::onnx::NodeProto &node, graph::NodeDef &def, const std::string &where);
    Result<void> readCall(const ::onnx::NodeProto &node, graph::NodeDef &def, const std::string &where);
    bool isReal(const std::string &value) const;
    Result<void> addHeads();
    void orderCaptured();
    graph::NodeId add(graph::NodeDef def, std::span<const graph::Entry> inputs = {});
    Result<void> define(const std::string &value, const graph::Entry &entry, const std::string &where);
    /// The value of that name, captured from around the graph where it is not its own.
    const graph::Entry *find(const std::string &value);
    bool isKnownOutside(const std::string &value) const;
    std::string uniqueName(const std::string &wanted);

    ReadContext &m_context;
    const ::onnx::GraphProto &m_proto;
    GraphReader *m_outer;
    std::size_t m_firstCaptured;
    std::size_t m_bodyInputs = 0; ///< of a body: inputs of its own so far
    graph::Graph m_graph;
    std::unordered_map<std::string, graph::Entry> m_values;
    std::unordered_map<std::string, const ::onnx::TensorProto *> m_initializers;
    std::unordered_set<std::string> m_names; ///< of nodes and variables
    std::vector<std::string> m_captured;
    std::string_view m_kindOfDefaults; ///< of the main graph: what inputs that have an initializer say
    /// Scratch: bodies of the node that is being read, by attribute.
    std::map<std::string, std::shared_ptr<const graph::Graph>, std::greater<>> m_bodies;
    std::vector<graph::Entry> m_inputs; ///< scratch: of the node that is being read
    std::vector<graph::NodeDefPtr> m_defs;
};

} // namespace halftone::io::onnx
