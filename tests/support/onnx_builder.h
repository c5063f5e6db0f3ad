#pragma once

#include "core/dialect/dialect.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/graph/model.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace halftone::test {

/// Graphs of ONNX for tests, written as their nodes.
class OnnxBuilder
{
public:
    explicit OnnxBuilder(int opset)
        : m_graph(dialect::onnx::onnxDialect(opset))
    {
    }

    graph::Entry input(const char *name, const char *type, const char *shape)
    {
        return add(
            graph::NodeDef{
                std::string(dialect::onnx::kVariableOp), name, {{"type", type}, {"shape", shape}}, {}, true},
            {});
    }
    /// Output 0 of the new node, which is called like it.
    graph::Entry op(const char *op, const char *name, graph::Attributes attributes,
                    const std::vector<graph::Entry> &inputs)
    {
        graph::NodeDef def{op, name, std::move(attributes), {}, false};
        def.outputs.emplace_back(name);
        for (std::size_t slot = 0; slot < inputs.size(); ++slot)
            def.slots.push_back(static_cast<decltype(def.slots)::value_type>(slot));
        return add(std::move(def), inputs);
    }
    /// A node that holds the values.
    graph::Entry constant(const char *name, tensor::Tensor values)
    {
        return graph::Entry{m_graph.add(m_graph.dialect()->makeConstant(name, std::move(values)), {})};
    }
    graph::Graph withHeads(const std::vector<graph::Entry> &heads)
    {
        m_graph.setHeads(heads);
        return m_graph;
    }

    /// A float32 parameter for a model of the graph.
    static tensor::Array floats(const char *name, tensor::Shape shape, const std::vector<float> &values)
    {
        std::vector<std::byte> bytes(values.size() * sizeof(float));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        tensor::Array array;
        array.name = name;
        array.values = tensor::Tensor::owning(tensor::DType::F32, shape, std::move(bytes));
        array.shape = std::move(shape);
        return array;
    }

private:
    graph::Entry add(graph::NodeDef def, const std::vector<graph::Entry> &inputs)
    {
        return graph::Entry{m_graph.add(std::make_shared<const graph::NodeDef>(std::move(def)), inputs)};
    }

    graph::Graph m_graph;
};

/// The operators' names, sorted.
inline std::vector<std::string> operatorsIn(const graph::Graph &graph)
{
    std::vector<std::string> ops;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        if (!graph.isVariable(id))
            ops.push_back(graph.node(id).op);
    std::ranges::sort(ops);
    return ops;
}

} // namespace halftone::test
