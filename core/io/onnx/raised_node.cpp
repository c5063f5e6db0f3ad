#include "core/io/onnx/raised_node.h"

#include "core/dialect/onnx/element_type.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/op_info.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

namespace halftone::io::onnx {
namespace {

using Attribute = ::onnx::AttributeProto;
using ::onnx::NodeProto;

/// The values of an attribute as a tensor: lists of rank 1, single numbers scalars.
::onnx::TensorProto tensorOf(const Attribute &attribute)
{
    ::onnx::TensorProto tensor;
    const auto setValues = [&tensor](const auto *values, std::size_t count) {
        tensor.set_raw_data(values, count * sizeof *values);
    };
    if (attribute.type() == Attribute::FLOAT || attribute.type() == Attribute::FLOATS) {
        tensor.set_data_type(::onnx::TensorProto::FLOAT);
        const float single = attribute.f();
        if (attribute.type() == Attribute::FLOAT)
            setValues(&single, 1);
        else
            setValues(attribute.floats().data(), static_cast<std::size_t>(attribute.floats_size()));
    } else {
        tensor.set_data_type(::onnx::TensorProto::INT64);
        const std::int64_t single = attribute.i();
        if (attribute.type() == Attribute::INT)
            setValues(&single, 1);
        else
            setValues(attribute.ints().data(), static_cast<std::size_t>(attribute.ints_size()));
    }
    if (attribute.type() == Attribute::FLOATS || attribute.type() == Attribute::INTS)
        tensor.add_dims(std::max(attribute.floats_size(), attribute.ints_size()));
    return tensor;
}

/// Casts one number in float32, if it is one, to a float type.
void castNumber(tensor::DType type, ::onnx::TensorProto &tensor)
{
    if (!tensor::isFloat(type) || type == tensor::DType::F32
        || tensor.data_type() != ::onnx::TensorProto::FLOAT || tensor.raw_data().size() != sizeof(float))
        return;
    float number = 0;
    std::memcpy(&number, tensor.raw_data().data(), sizeof number);
    std::string bytes(tensor::sizeOf(type), '\0');
    tensor::narrow(&number, 1, type, std::as_writable_bytes(std::span(bytes)).data());
    tensor.set_raw_data(std::move(bytes));
    tensor.set_data_type(static_cast<int>(dialect::onnx::codeOf(type)));
}

/// Puts the value of an attribute that a function's call gives before the last node, which reads it as an input.
void addGiven(const Attribute &attribute, const std::string &value, ::onnx::GraphProto &graph)
{
    NodeProto &constant = *graph.add_node();
    constant.set_op_type("Constant");
    constant.set_name(value);
    constant.add_output(value);
    Attribute &given = *constant.add_attribute();
    given.set_type(attribute.type());
    given.set_ref_attr_name(attribute.ref_attr_name());
    given.set_name(attribute.type() == Attribute::FLOAT        ? "value_float"
                       : attribute.type() == Attribute::FLOATS ? "value_floats"
                       : attribute.type() == Attribute::INT    ? "value_int"
                                                               : "value_ints");
    graph.mutable_node()->SwapElements(graph.node_size() - 2, graph.node_size() - 1);
}

NodeProto nodeOf(const char *op, const NodeProto &around, std::initializer_list<std::string> inputs,
                 std::string output)
{
    NodeProto node;
    node.set_op_type(op);
    node.set_name(around.name() + '_' + op);
    for (const std::string &input : inputs)
        node.add_input(input);
    node.add_output(std::move(output));
    return node;
}

/// Takes out the cast of ours that gives `value`, if nothing else can read it: a matrix is cast behind Flatten, as whoever
/// converts the result will find.
std::optional<NodeProto> takeCast(const std::string &value, ::onnx::GraphProto &graph)
{
    std::optional<NodeProto> taken;
    int place = -1;
    for (int k = 0; k < graph.node_size(); ++k) {
        const NodeProto &node = graph.node(k);
        const bool hasBodies
            = std::ranges::any_of(node.attribute(), [](const Attribute &a) { return a.has_g(); });
        if (hasBodies || std::ranges::find(node.input(), value) != node.input().end())
            return std::nullopt;
        if (node.op_type() == "Cast" && node.output(0) == value && node.name() == value)
            place = k;
    }
    if (place >= 0) {
        taken = graph.node(place);
        graph.mutable_node()->DeleteSubrange(place, 1);
    }
    return taken;
}

} // namespace

void raiseNode(const dialect::Dialect &dialect, tensor::DType data, ::onnx::NodeProto &node,
               ::onnx::GraphProto &graph)
{
    const auto *const info = static_cast<const dialect::onnx::OpInfo *>(
        dialect.findOp(dialect::onnx::qualifiedName(node.domain(), node.op_type())));
    if (info == nullptr)
        return;
    for (int k = node.attribute_size() - 1; k >= 0; --k) {
        const Attribute &attribute = node.attribute(k);
        if (info->attribute(attribute.name()) != nullptr)
            continue;
        const auto slot = std::ranges::find(info->inputs, attribute.name(), &dialect::onnx::Slot::name);
        if (slot != info->inputs.end()) {
            const auto position = static_cast<int>(slot - info->inputs.begin());
            const std::string value = node.output(0) + '_' + attribute.name();
            if (attribute.ref_attr_name().empty()) {
                ::onnx::TensorProto &tensor = *graph.add_initializer();
                tensor = tensorOf(attribute);
                if (node.op_type() == "Clip" || node.op_type() == "Pad")
                    castNumber(data, tensor);
                tensor.set_name(value);
            } else {
                addGiven(attribute, value, graph);
            }
            while (node.input_size() <= position)
                node.add_input("");
            node.set_input(position, value);
        }
        node.mutable_attribute()->DeleteSubrange(k, 1);
    }
    // Equal parts were what nothing said; newer opsets want their number.
    const bool isSaid = std::ranges::any_of(
        node.attribute(), [](const Attribute &attribute) { return attribute.name() == "num_outputs"; });
    if (node.op_type() == "Split" && node.input_size() < 2 && !isSaid
        && info->attribute("num_outputs") != nullptr) {
        Attribute &parts = *node.add_attribute();
        parts.set_name("num_outputs");
        parts.set_type(Attribute::INT);
        parts.set_i(node.output_size());
    }
}

void flattenAround(const dialect::Dialect &dialect, ::onnx::GraphProto &graph)
{
    NodeProto node = graph.node(graph.node_size() - 1);
    graph.mutable_node()->RemoveLast();
    std::optional<NodeProto> cast = takeCast(node.input(0), graph);
    const std::string input = cast ? cast->input(0) : node.input(0), output = node.output(0);
    const std::string flat = output + "_flat", shape = output + "_shape";
    std::string matrix = output + "_matrix";
    NodeProto flatten = nodeOf("Flatten", node, {input}, matrix);
    for (Attribute &attribute : *node.mutable_attribute()) {
        if (attribute.name() != "axis")
            continue;
        *flatten.add_attribute() = attribute;
        attribute.clear_ref_attr_name();
        attribute.set_i(-1);
    }
    *graph.add_node() = flatten;
    if (cast) {
        cast->set_input(0, matrix);
        matrix
            = dialect.castName(matrix, *dialect::onnx::dtypeOfCode(static_cast<int>(cast->attribute(0).i())));
        cast->set_name(matrix);
        cast->set_output(0, matrix);
        *graph.add_node() = *cast;
    }
    node.set_input(0, matrix);
    node.set_output(0, flat);
    *graph.add_node() = node;
    *graph.add_node() = nodeOf("Shape", node, {input}, shape);
    *graph.add_node() = nodeOf("Reshape", node, {flat, shape}, output);
}

} // namespace halftone::io::onnx
