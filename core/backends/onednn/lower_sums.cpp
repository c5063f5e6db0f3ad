#include "core/backends/onednn/code_window.h"
#include "core/backends/onednn/int8_scales.h"
#include "core/backends/onednn/loops/code_kernel.h"
#include "core/backends/onednn/product_step.h"

/// Products of codes whose scale only a run tells, and these codes.
namespace halftone::backends::onednn {
namespace {

using ops::CodedSums;

/// oneDNN takes sums through float32 on their way, which holds whole numbers up to 2^24.
Result<void> checkExact(const Emitter &emitter, const plan::PlanNode &node, std::size_t channels,
                        bool lastCounts)
{
    const bool isSum = emitter.desc(node.outputs[0]).dtype == tensor::DType::I32;
    if (isSum && !holdsSums(emitter, node, channels, lastCounts))
        return unsupported("plan", "sums that float32 does not hold");
    return {};
}

/// What there is besides data, weight and bias: run-time numbers as oneDNN reads them.
/// weightMask  of scales by output channel
Result<Program::Arguments> setNumbers(Emitter &emitter, const plan::PlanNode &node, const CodedSums &op,
                                      int weightMask, dnnl::primitive_attr &attributes)
{
    Program::Arguments arguments;
    if (op.hasZero) {
        attributes.set_zero_points_mask(DNNL_ARG_SRC, 0);
        HALFTONE_TRY(const Place zero, emitter.readAs(node.inputs[2], plainDesc({1}, Type::s32)));
        arguments.emplace_back(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, zero);
    }
    if (op.hasScale) {
        attributes.set_scales_mask(DNNL_ARG_SRC, 0);
        HALFTONE_TRY(const Place scale,
                     emitter.readAs(node.inputs[op.scaleInput()], plainDesc({1}, Type::f32)));
        arguments.emplace_back(DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, scale);
    }
    if (!op.weightSteps.empty()) {
        attributes.set_scales_mask(DNNL_ARG_WEIGHTS, op.weightSteps.size() == 1 ? 0 : weightMask);
        HALFTONE_TRY(const Place steps, floats(emitter, op.weightSteps));
        arguments.emplace_back(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, steps);
    }
    return arguments;
}

Result<void> lowerWindowSums(Emitter &emitter, const plan::PlanNode &node, const CodedSums &op)
{
    HALFTONE_TRY(const WindowShape shape, windowShape(emitter, node, op.conv));
    HALFTONE_CHECK(checkExact(emitter, node, static_cast<std::size_t>(shape.to[1]), false));
    const Desc from = codeLayout(shape.from, shape.source);
    const Desc to = codeLayout(shape.to, shape.result);
    HALFTONE_TRY(PostOps post, makePostOps(emitter, node, to));
    HALFTONE_TRY(Program::Arguments arguments,
                 setNumbers(emitter, node, op, op.conv.groups > 1 ? 3 : 1, post.attributes));
    const auto descriptor = describeWindow(shape, from, to, op.hasBias, post.attributes);
    if (!descriptor || isUnhurried(descriptor.impl_info_str()))
        return unsupported("plan", "oneDNN has no fast convolution of codes for these shapes");
    HALFTONE_TRY(const Place source, emitter.readAs(node.inputs[0], from));
    const Desc weightDesc = descriptor.weights_desc();
    HALFTONE_TRY(const Place weights,
                 emitter.constant(*emitter.graph().values[node.inputs[1]].constant,
                                  plainDesc(weightDesc.get_dims(), Type::s8), weightDesc));
    if (op.hasBias) {
        HALFTONE_TRY(const Place bias, emitter.readAs(node.inputs[op.biasInput()], descriptor.bias_desc()));
        arguments.emplace_back(DNNL_ARG_BIAS, bias);
    }
    return addProduct<dnnl::convolution_forward>(emitter, node, post, descriptor, source, weights, arguments);
}

Result<void> lowerMatrixSums(Emitter &emitter, const plan::PlanNode &node, const CodedSums &op)
{
    const tensor::Shape &data = emitter.desc(node.inputs[0]).shape;
    const Dims weight = dimsOf(emitter.desc(node.inputs[1]).shape);
    const auto sourceType = dnnlType(emitter.desc(node.inputs[0]).dtype);
    const auto resultType = dnnlType(emitter.desc(node.outputs[0]).dtype);
    if (!sourceType || !resultType || data.elementCount() == 0)
        return unsupported("plan", "no product of codes that oneDNN has");
    HALFTONE_CHECK(checkExact(emitter, node, static_cast<std::size_t>(weight[1]), true));
    const std::int64_t rows = *data.elementCount() / weight[0];
    const Desc from = plainDesc({rows, weight[0]}, *sourceType);
    const Desc to = plainDesc({rows, weight[1]}, *resultType);
    HALFTONE_TRY(PostOps post, makePostOps(emitter, node, to));
    HALFTONE_TRY(Program::Arguments arguments, setNumbers(emitter, node, op, 2, post.attributes));
    const Desc bias = op.hasBias ? plainDesc({1, weight[1]}, Type::f32) : Desc();
    const dnnl::matmul::primitive_desc descriptor(cpu(), from, Desc(weight, Type::s8, Tag::any), bias, to,
                                                  post.attributes, true);
    if (!descriptor || isUnhurried(descriptor.impl_info_str()))
        return unsupported("plan", "oneDNN has no fast product of codes for these types");
    HALFTONE_TRY(Place source, emitter.readPlain(node.inputs[0]));
    source.desc = from;
    HALFTONE_TRY(const Place weights,
                 emitter.constant(*emitter.graph().values[node.inputs[1]].constant,
                                  plainDesc(weight, Type::s8), descriptor.weights_desc()));
    if (op.hasBias) {
        HALFTONE_TRY(const Place place, emitter.readAs(node.inputs[op.biasInput()], bias));
        arguments.emplace_back(DNNL_ARG_BIAS, place);
    }
    return addProduct<dnnl::matmul>(emitter, node, post, descriptor, source, weights, arguments);
}

} // namespace

Result<void> lowerCodedSums(Emitter &emitter, const plan::PlanNode &node, const CodedSums &op)
{
    if (!addsExactly())
        return lowerWideSums(emitter, node, op);
    return op.product == ops::CodedChain::Product::Window ? lowerWindowSums(emitter, node, op)
                                                          : lowerMatrixSums(emitter, node, op);
}

Result<void> lowerDynamicQuantizeLinear(Emitter &emitter, const plan::PlanNode &node,
                                        const ops::DynamicQuantizeLinear &)
{
    if (node.outputs.size() != 3 || emitter.desc(node.inputs[0]).dtype != tensor::DType::F32
        || emitter.desc(node.inputs[0]).shape.elementCount() == 0)
        return unsupported("plan", "codes of something else than float32");
    HALFTONE_TRY(const Place given, emitter.read(node.inputs[0]));
    const Dims dims = dimsOf(emitter.desc(node.outputs[0]).shape);
    const bool isWhole = given.desc.get_dims() == dims;
    const Desc layout = !isWhole                ? plainDesc(dims, Type::f32)
        : feedsWindow(emitter, node.outputs[0]) ? codeLayout(dims, Type::f32)
                                                : sumLayout(given.desc, dims, Type::f32);
    HALFTONE_TRY(const Place source, emitter.readAs(node.inputs[0], layout));
    const Place codes = emitter.write(node.outputs[0], withType(layout, Type::u8));
    const BufferId scale = emitter.writePlain(node.outputs[1]).buffer;
    const BufferId zero = emitter.writePlain(node.outputs[2]).buffer;
    emitter.addKernel(
        dynamicCodeKernel(static_cast<std::size_t>(*emitter.desc(node.outputs[0]).shape.elementCount())),
        {source.buffer}, {codes.buffer, scale, zero});
    return {};
}

} // namespace halftone::backends::onednn
