#include "core/io/onnx/respelled_node.h"

#include "core/dialect/onnx/onnx_dialect.h"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

namespace halftone::io::onnx {
namespace {

using Attribute = ::onnx::AttributeProto;
using ::onnx::NodeProto;

void setInteger(std::string_view name, std::int64_t value, NodeProto &node)
{
    Attribute &attribute = *node.add_attribute();
    attribute.set_name(std::string(name));
    attribute.set_type(Attribute::INT);
    attribute.set_i(value);
}

/// Puts nodes that make one value of `base` each before the last node of a graph.
class NodesBefore
{
public:
    NodesBefore(::onnx::GraphProto &graph, std::string base)
        : m_graph(graph)
        , m_base(std::move(base))
        , m_last(graph.node(graph.node_size() - 1))
    {
        graph.mutable_node()->RemoveLast();
    }

    NodeProto &last() { return m_last; }
    /// gives: the name of the value, which is called by `role`
    std::string add(const char *op, std::string_view role, std::initializer_list<std::string> inputs,
                    std::initializer_list<std::pair<const char *, std::int64_t>> attributes = {})
    {
        NodeProto &node = *m_graph.add_node();
        node.set_op_type(op);
        std::string value = m_base + '_' + std::string(role);
        node.set_name(value);
        for (const std::string &input : inputs)
            node.add_input(input);
        node.add_output(value);
        for (const auto &[key, number] : attributes)
            setInteger(key, number, node);
        return value;
    }
    std::string vector(std::string_view role, std::span<const std::int64_t> values)
    {
        ::onnx::TensorProto &tensor = *m_graph.add_initializer();
        tensor.set_name(m_base + '_' + std::string(role));
        tensor.set_data_type(::onnx::TensorProto::INT64);
        tensor.add_dims(static_cast<std::int64_t>(values.size()));
        tensor.set_raw_data(values.data(), values.size_bytes());
        return tensor.name();
    }
    void finish() { *m_graph.add_node() = std::move(m_last); }

private:
    ::onnx::GraphProto &m_graph;
    std::string m_base;
    NodeProto m_last;
};

} // namespace

std::string beforeCast(const dialect::Dialect &dialect, const std::string &value,
                       const ::onnx::GraphProto &graph)
{
    for (const NodeProto &node : graph.node())
        if (node.op_type() == "Cast" && node.output(0) == value && dialect.isCastName(value))
            return node.input(0);
    return value;
}

void spreadScales(const dialect::Dialect &dialect, ::onnx::GraphProto &graph)
{
    NodesBefore to(graph, graph.node(graph.node_size() - 1).output(0));
    std::int64_t groups = 1;
    for (const Attribute &attribute : to.last().attribute())
        if (attribute.name() == "num_groups")
            groups = attribute.i();
    const std::int64_t ofGroups[]{groups};
    const std::int64_t column[]{-1, 1};
    const std::string count = to.vector("groups", ofGroups);
    const std::string columns = to.vector("column", column);
    const std::string flat = to.vector("flat", std::span(column).first(1));
    const std::string data = beforeCast(dialect, to.last().input(0), graph);
    std::string shape; // nodes in the order in which a walk from the last one meets them
    for (const auto &[input, role] :
         {std::pair(1, std::string("scale")), std::pair(2, std::string("bias"))}) {
        const std::string tall = to.add("Reshape", role + "_column", {to.last().input(input), columns});
        if (shape.empty()) {
            const std::string channels = to.add("Shape", "channels", {data}, {{"start", 1}, {"end", 2}});
            const std::string each = to.add("Div", "channels_each", {channels, count});
            shape = to.add("Concat", "spread", {count, each}, {{"axis", 0}});
        }
        const std::string wide = to.add("Expand", role + "_spread", {tall, shape});
        to.last().set_input(input, to.add("Reshape", role + "_of_channels", {wide, flat}));
    }
    to.finish();
}

void batchAround(NodeProto &scan)
{
    const std::string base = scan.output(0).empty() ? scan.name() : scan.output(0);
    NodeProto inner = scan;
    inner.set_name(base + "_steps");
    inner.clear_input();
    inner.clear_output();
    for (Attribute &attribute : *inner.mutable_attribute())
        if (attribute.name() == "directions")
            attribute.set_name("scan_input_directions");
    ::onnx::GraphProto batch;
    batch.set_name(base + "_batch");
    // The slot of the sequences' lengths stands first and is empty.
    for (int k = 1; k < scan.input_size(); ++k) {
        const std::string name = base + "_example_" + std::to_string(k);
        batch.add_input()->set_name(name);
        inner.add_input(name);
    }
    for (int k = 0; k < scan.output_size(); ++k) {
        const std::string name = base + "_result_" + std::to_string(k);
        batch.add_output()->set_name(name);
        inner.add_output(name);
    }
    *batch.add_node() = std::move(inner);
    scan.mutable_input()->DeleteSubrange(0, 1);
    scan.clear_attribute();
    setInteger("num_scan_inputs", scan.input_size(), scan);
    Attribute &body = *scan.add_attribute();
    body.set_name("body");
    body.set_type(Attribute::GRAPH);
    *body.mutable_g() = std::move(batch);
}

} // namespace halftone::io::onnx
