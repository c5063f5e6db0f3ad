#pragma once

#include "core/base/result.h"
#include "core/dialect/onnx/value_types.h"
#include "core/dialect/stored_arrays.h"
#include "core/graph/model.h"
#include "core/io/onnx/source.h"
#include "core/io/onnx/written_tensor.h"

#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace halftone::io::onnx {

/// Writes one graph; bodies of its nodes are written by writers of their own.
class GraphWriter
{
public:
    /// `parameters`: of the main graph by variable; null for a body.
    GraphWriter(const graph::Graph &graph, const dialect::StoredArrays *parameters)
        : m_graph(graph)
        , m_parameters(parameters)
    {
    }

    /// The types of the outputs as they are computed now; Unknown, or beyond the end: as the file said. Lasts as long as this.
    void sayOutputTypes(std::span<const tensor::DType> types) { m_outputTypes = types; }
    /// Large initializers get no values; `apart`, which lasts as long as this, gets them.
    void keepApart(ValuesApart &apart) { m_apart = &apart; }
    /// For a runtime: every node bears the name that it has in the graph, and inputs have these shapes, by variable. They last as long as
    /// this.
    void handOver(const std::unordered_map<std::string, tensor::Shape> &shapes) { m_shapes = &shapes; }
    /// `outer`: what values that this body captures are called, by the number that its variables bear.
    Result<void> write(::onnx::GraphProto &proto, const std::vector<std::string> &outer = {});

private:
    bool isAsRead() const;
    /// Unknown where the file is written as it was read.
    tensor::DType valueType(const graph::Entry &entry) const;
    bool isRaised(const Source &source) const;
    void findTypes();
    bool isNameTaken(const std::string &name) const;
    void findUnread(const ::onnx::GraphProto &source);
    void nameValues(const std::vector<std::string> &outer);
    void nameHeads(const ::onnx::GraphProto *source);
    void writeVariables(const ::onnx::GraphProto *source, ::onnx::GraphProto &proto) const;
    void placeBodyInputs(const ::onnx::GraphProto &source, ::onnx::GraphProto &proto) const;
    void writeVariable(graph::NodeId id, ::onnx::GraphProto &proto) const;
    void fixShape(const std::string &variable, ::onnx::ValueInfoProto &input) const;
    Result<void> writeNode(graph::NodeId id, ::onnx::GraphProto &proto) const;
    Result<void> writeAttributes(graph::NodeId id, const ::onnx::NodeProto *source,
                                 ::onnx::NodeProto &node) const;
    std::vector<tensor::DType> handedIn(graph::NodeId id) const;
    Result<void> writeBody(graph::NodeId id, std::size_t body, ::onnx::AttributeProto &attribute) const;
    void writeOutputs(::onnx::GraphProto &proto) const;
    void correctOutputTypes(::onnx::GraphProto &proto) const;
    void writeValueInfo(const ::onnx::GraphProto &source, ::onnx::GraphProto &proto) const;
    const std::string &nameOf(const graph::Entry &entry) const { return m_values[entry.node][entry.output]; }

    const graph::Graph &m_graph;
    const dialect::StoredArrays *m_parameters;
    std::span<const tensor::DType> m_outputTypes;
    ValuesApart *m_apart = nullptr;
    const std::unordered_map<std::string, tensor::Shape> *m_shapes = nullptr; ///< null: for no runtime
    std::vector<const ::onnx::ValueInfoProto *> m_unread; ///< inputs of the source that no node stands for
    std::vector<std::vector<std::string>> m_values; ///< names, by NodeId and output
    std::unordered_set<std::string> m_taken; ///< names of the graph's own values
    bool m_isChanged = false; ///< it, or a graph around it, is not as it was read
    const GraphWriter *m_outer = nullptr; ///< of the graph that this body lies in
    std::vector<tensor::DType> m_captured; ///< types, by the number that variables bear
    std::vector<tensor::DType> m_handedIn; ///< types of a body's own inputs; Unknown: as the file said
    std::vector<tensor::DType> m_headTypes; ///< of a body that was changed
    dialect::onnx::ValueTypes
        m_types; ///< of a graph of a newer opset, and of one that was changed and has bodies or is one
};

} // namespace halftone::io::onnx
