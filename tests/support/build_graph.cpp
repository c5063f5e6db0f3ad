#include "tests/support/build_graph.h"

#include "core/dialect/mxnet/mxnet_dialect.h"

#include <cstring>

namespace halftone::test {

graph::Graph emptyGraph()
{
    return graph::Graph(dialect::mxnet::mxnetDialect());
}

std::shared_ptr<graph::NodeDef> nodeOf(const std::string &op, const std::string &name,
                                       graph::Attributes attributes,
                                       std::vector<std::shared_ptr<const graph::Graph>> bodies)
{
    return std::make_shared<graph::NodeDef>(graph::NodeDef{op, name, std::move(attributes), std::move(bodies),
                                                           op == dialect::mxnet::kVariableOp});
}

graph::Entry GraphBuilder::variable(const std::string &name, graph::Attributes attributes)
{
    return op(std::string(dialect::mxnet::kVariableOp), name, {}, std::move(attributes));
}

graph::Entry GraphBuilder::op(const std::string &op, const std::string &name,
                              std::vector<graph::Entry> inputs, graph::Attributes attributes)
{
    return {m_graph.add(nodeOf(op, name, std::move(attributes)), inputs), 0, 0};
}

graph::Graph GraphBuilder::withHeads(std::vector<graph::Entry> heads)
{
    m_graph.setHeads(std::move(heads));
    return m_graph;
}

std::vector<std::string> linesOf(const graph::Graph &graph)
{
    std::vector<std::string> lines;
    const auto name = [&graph](const graph::Entry &entry) {
        return graph.node(entry.node).name
            + (entry.output == 0 ? std::string() : ":" + std::to_string(entry.output));
    };
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        std::string line = graph.node(id).op + ' ' + graph.node(id).name + '(';
        for (const graph::Entry &entry : graph.inputs(id))
            line += (line.back() == '(' ? "" : ", ") + name(entry);
        lines.push_back(line + ')');
    }
    std::string heads = "->";
    for (const graph::Entry &head : graph.heads())
        heads += ' ' + name(head);
    lines.push_back(heads);
    return lines;
}

tensor::Array floatArray(const std::string &name, std::vector<float> values)
{
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    tensor::Array array;
    array.name = name;
    array.shape = tensor::Shape{static_cast<std::int64_t>(values.size())};
    array.values = tensor::Tensor::owning(tensor::DType::F32, array.shape, std::move(bytes));
    return array;
}

} // namespace halftone::test
