#include "core/backends/onednn/code_window.h"
#include "core/backends/onednn/int8_scales.h"
#include "core/backends/onednn/product_step.h"

/// Products of codes whose scale only a run tells, as products of float32.
namespace halftone::backends::onednn {
namespace {

using dnnl::algorithm;
using ops::CodedSums;

/// The data less their zero point.
Result<Place> widened(Emitter &emitter, const plan::PlanNode &node, const CodedSums &op, const Place &codes)
{
    const Place wide = emitter.temporary(withType(codes.desc, Type::f32));
    dnnl::primitive_attr attributes = userScratchpad();
    Program::Arguments arguments{{DNNL_ARG_FROM, codes}, {DNNL_ARG_TO, wide}};
    if (op.hasZero) {
        attributes.set_zero_points_mask(DNNL_ARG_FROM, 0);
        HALFTONE_TRY(const Place zero, emitter.readAs(node.inputs[2], plainDesc({1}, Type::s32)));
        arguments.emplace_back(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_FROM, zero);
    }
    const dnnl::reorder::primitive_desc descriptor(cpu(), codes.desc, cpu(), wide.desc, attributes, true);
    if (!descriptor)
        return unsupported("plan", "oneDNN has no reorder with a zero point for this");
    HALFTONE_TRY(const dnnl::reorder primitive,
                 attempt(node.members[0], [&] { return dnnl::reorder(descriptor); }));
    emitter.add(primitive, descriptor.impl_info_str(), std::move(arguments), descriptor.scratchpad_desc());
    return wide;
}

/// What makes reals of the sums: the weights' scales, the data's, the bias.
/// to    of the result
/// axis  of the channels
Result<std::vector<LeadingPost>> toReals(Emitter &emitter, const plan::PlanNode &node, const CodedSums &op,
                                         const Dims &to, std::size_t axis)
{
    std::vector<LeadingPost> steps;
    const auto append = [&](algorithm kind, Place operand, dnnl::memory::dim count) {
        Dims dims(to.size(), 1);
        dims[axis] = count;
        operand.desc = plainDesc(dims, Type::f32);
        steps.push_back({kind, operand});
    };
    if (!op.weightSteps.empty()) {
        HALFTONE_TRY(const Place place, floats(emitter, op.weightSteps));
        append(algorithm::binary_mul, place, static_cast<dnnl::memory::dim>(op.weightSteps.size()));
    }
    if (op.hasScale) {
        HALFTONE_TRY(const Place place,
                     emitter.readAs(node.inputs[op.scaleInput()], plainDesc({1}, Type::f32)));
        append(algorithm::binary_mul, place, 1);
    }
    if (op.hasBias) {
        HALFTONE_TRY(const Place place,
                     emitter.readAs(node.inputs[op.biasInput()], plainDesc({to[axis]}, Type::f32)));
        append(algorithm::binary_add, place, to[axis]);
    }
    return steps;
}

/// stored  how the weights' codes lie
template <class Primitive>
Result<void> addWide(Emitter &emitter, const plan::PlanNode &node, const CodedSums &op, const PostOps &post,
                     const typename Primitive::primitive_desc &descriptor, const Place &codes,
                     const Desc &stored)
{
    HALFTONE_TRY(const Place source, widened(emitter, node, op, codes));
    HALFTONE_TRY(const Place weights,
                 emitter.constant(*emitter.graph().values[node.inputs[1]].constant, stored,
                                  descriptor.weights_desc()));
    return addProduct<Primitive>(emitter, node, post, descriptor, source, weights);
}

Result<void> lowerWindow(Emitter &emitter, const plan::PlanNode &node, const CodedSums &op)
{
    HALFTONE_TRY(WindowShape shape, windowShape(emitter, node, op.conv));
    if (!holdsSums(emitter, node, static_cast<std::size_t>(shape.to[1]), false))
        return unsupported("plan", "sums that float32 does not hold");
    shape.weight = Type::f32;
    const Desc to = codeLayout(shape.to, Type::f32);
    HALFTONE_TRY(const auto reals, toReals(emitter, node, op, shape.to, 1));
    HALFTONE_TRY(const PostOps post, makePostOps(emitter, node, to, SumInPlace::Never, reals));
    const auto descriptor
        = describeWindow(shape, codeLayout(shape.from, Type::f32), to, false, post.attributes);
    if (!descriptor || isUnhurried(descriptor.impl_info_str()))
        return unsupported("plan", "oneDNN has no fast convolution for these shapes");
    HALFTONE_TRY(const Place codes, emitter.readAs(node.inputs[0], codeLayout(shape.from, shape.source)));
    return addWide<dnnl::convolution_forward>(emitter, node, op, post, descriptor, codes,
                                              plainDesc(descriptor.weights_desc().get_dims(), Type::s8));
}

Result<void> lowerMatrix(Emitter &emitter, const plan::PlanNode &node, const CodedSums &op)
{
    const tensor::Shape &data = emitter.desc(node.inputs[0]).shape;
    const Dims weight = dimsOf(emitter.desc(node.inputs[1]).shape);
    const auto type = dnnlType(emitter.desc(node.inputs[0]).dtype);
    if (!type || data.elementCount() == 0)
        return unsupported("plan", "no product of codes that oneDNN has");
    if (!holdsSums(emitter, node, static_cast<std::size_t>(weight[1]), true))
        return unsupported("plan", "sums that float32 does not hold");
    const dnnl::memory::dim rows = *data.elementCount() / weight[0];
    const Desc to = plainDesc({rows, weight[1]}, Type::f32);
    HALFTONE_TRY(const auto reals, toReals(emitter, node, op, to.get_dims(), 1));
    HALFTONE_TRY(const PostOps post, makePostOps(emitter, node, to, SumInPlace::Never, reals));
    const dnnl::inner_product_forward::primitive_desc descriptor(
        cpu(), dnnl::prop_kind::forward_inference, plainDesc({rows, weight[0]}, Type::f32),
        Desc({weight[1], weight[0]}, Type::f32, Tag::any), to, post.attributes, true);
    if (!descriptor || isUnhurried(descriptor.impl_info_str()))
        return unsupported("plan", "oneDNN has no fast product for these shapes");
    HALFTONE_TRY(Place codes, emitter.readPlain(node.inputs[0]));
    codes.desc = plainDesc({rows, weight[0]}, *type);
    return addWide<dnnl::inner_product_forward>(emitter, node, op, post, descriptor, codes,
                                                plainDesc(weight, Type::s8).permute_axes({1, 0}));
}

} // namespace

Result<void> lowerWideSums(Emitter &emitter, const plan::PlanNode &node, const CodedSums &op)
{
    if (emitter.desc(node.outputs[0]).dtype != tensor::DType::F32)
        return unsupported("plan", "sums of products of codes that stay whole numbers");
    return op.product == ops::CodedChain::Product::Window ? lowerWindow(emitter, node, op)
                                                          : lowerMatrix(emitter, node, op);
}

} // namespace halftone::backends::onednn
