#include "core/dialect/onnx/write_operator.h"

#include "core/dialect/onnx/attribute_list.h"

#include <optional>

namespace halftone::dialect::onnx {
namespace {

Error unwritable()
{
    return unsupported({}, "this operator cannot be written as ONNX");
}

void setDims(graph::Attributes &attributes, const char *key, const ops::Dims &dims)
{
    if (!dims.empty())
        attributes.set(key, listText(std::span<const std::int64_t>(dims)));
}

Result<OperatorText> convText(const ops::Conv &conv)
{
    if (conv.layout != ops::Layout::ChannelsFirst || conv.pad.same != ops::Padding::Same::No)
        return unwritable();
    OperatorText text{"Conv", {}};
    setDims(text.attributes, "kernel_shape", conv.kernel);
    setDims(text.attributes, "strides", conv.stride);
    setDims(text.attributes, "dilations", conv.dilate);
    ops::Dims pads = conv.pad.begin;
    pads.insert(pads.end(), conv.pad.end.begin(), conv.pad.end.end());
    setDims(text.attributes, "pads", pads);
    if (conv.groups != 1)
        text.attributes.set("group", std::to_string(conv.groups));
    return text;
}

std::optional<std::string_view> nameOfBinary(ops::BinaryKind kind)
{
    switch (kind) {
    case ops::BinaryKind::Add:
        return "Add";
    case ops::BinaryKind::Mul:
        return "Mul";
    default:
        return std::nullopt;
    }
}

} // namespace

Result<OperatorText> writeOperator(const ops::Operator &op)
{
    if (const auto *const conv = op.getIf<ops::Conv>())
        return convText(*conv);
    // Data are of rank 2, as Gemm takes no others: whether to flatten them makes no difference.
    if (op.is<ops::FullyConnected>())
        return OperatorText{"Gemm", {{"transB", "1"}}};
    if (const auto *const binary = op.getIf<ops::Binary>()) {
        if (const auto name = nameOfBinary(binary->kind))
            return OperatorText{std::string(*name), {}};
    }
    return unwritable();
}

} // namespace halftone::dialect::onnx
