#include "core/io/onnx/raised_node.h"

#include "core/dialect/onnx/element_type.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/op_info.h"
#include "core/dialect/onnx/raised_names.h"
#include "core/io/onnx/respelled_node.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
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
    const std::string input = node.input(0), output = node.output(0);
    const std::string matrix = output + std::string(dialect::onnx::kMatrixSuffix);
    const std::string flat = output + std::string(dialect::onnx::kFlatSuffix);
    const std::string shape = output + std::string(dialect::onnx::kShapeSuffix);
    NodeProto flatten = nodeOf("Flatten", node, {input}, matrix);
    for (Attribute &attribute : *node.mutable_attribute()) {
        if (attribute.name() != "axis")
            continue;
        *flatten.add_attribute() = attribute;
        attribute.clear_ref_attr_name();
        attribute.set_i(-1);
    }
    *graph.add_node() = flatten;
    node.set_input(0, matrix);
    node.set_output(0, flat);
    *graph.add_node() = node;
    *graph.add_node() = nodeOf("Shape", node, {beforeCast(dialect, input, graph)}, shape);
    *graph.add_node() = nodeOf("Reshape", node, {flat, shape}, output);
}

} // namespace halftone::io::onnx
