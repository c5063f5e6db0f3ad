#include "core/io/onnx/raised_node.h"

#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/op_info.h"

#include <algorithm>
#include <string>

namespace halftone::io::onnx {
namespace {

using Attribute = ::onnx::AttributeProto;

/// The values of an attribute as a tensor: lists of rank 1, single numbers scalars.
::onnx::TensorProto tensorOf(const Attribute &attribute)
{
    ::onnx::TensorProto tensor;
    if (attribute.type() == Attribute::FLOAT) {
        tensor.set_data_type(::onnx::TensorProto::FLOAT);
        tensor.add_float_data(attribute.f());
        return tensor;
    }
    tensor.set_data_type(::onnx::TensorProto::INT64);
    if (attribute.type() == Attribute::INT) {
        tensor.add_int64_data(attribute.i());
        return tensor;
    }
    tensor.add_dims(attribute.ints_size());
    tensor.mutable_int64_data()->CopyFrom(attribute.ints());
    return tensor;
}

} // namespace

void raiseNode(const dialect::Dialect &dialect, ::onnx::NodeProto &node, ::onnx::GraphProto &graph)
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
            ::onnx::TensorProto &tensor = *graph.add_initializer();
            tensor = tensorOf(attribute);
            tensor.set_name(node.output(0) + '_' + attribute.name());
            while (node.input_size() <= position)
                node.add_input("");
            node.set_input(position, tensor.name());
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

} // namespace halftone::io::onnx
