#include "core/backends/onednn/code_window.h"
#include "core/backends/onednn/int8_products.h"

namespace halftone::backends::onednn {
namespace {

using dnnl::prop_kind;

/// Says which scales there are; their values come with the arguments.
void setScales(dnnl::primitive_attr &attributes, const Int8Product &product, bool isGrouped)
{
    if (!product.weightSteps.empty()) {
        attributes.set_scales_mask(DNNL_ARG_SRC, 0);
        attributes.set_scales_mask(DNNL_ARG_WEIGHTS, product.weightSteps.size() == 1 ? 0 : isGrouped ? 3 : 1);
    }
    if (product.hasResultScale)
        attributes.set_scales_mask(DNNL_ARG_DST, 0);
}

Result<void> addScales(Emitter &emitter, const Int8Product &product, const Int8Attributes &units,
                       Program::Arguments &arguments)
{
    if (!product.weightSteps.empty()) {
        HALFTONE_TRY(const Place data,
                     floats(emitter, {static_cast<float>(1 / product.dataScale / units.unit)}));
        arguments.emplace_back(DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, data);
        HALFTONE_TRY(const Place weights, floats(emitter, product.weightSteps));
        arguments.emplace_back(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, weights);
    }
    if (product.hasResultScale) {
        HALFTONE_TRY(const Place result,
                     floats(emitter, {static_cast<float>(1 / product.resultScale / units.resultUnit)}));
        arguments.emplace_back(DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, result);
    }
    return {};
}

Result<void> addBias(Emitter &emitter, const Int8Product &product, double unit, Program::Arguments &arguments)
{
    if (product.bias.empty())
        return {};
    std::vector<float> bias = product.bias;
    for (float &value : bias)
        value = static_cast<float>(value / unit);
    HALFTONE_TRY(const Place place, floats(emitter, bias));
    arguments.emplace_back(DNNL_ARG_BIAS, place);
    return {};
}

struct ConvChoice
{
    dnnl::convolution_forward::primitive_desc descriptor{nullptr};
    Int8Attributes attributes;
};

Result<ConvChoice> chooseConv(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op,
                              const Int8Product &product)
{
    HALFTONE_TRY(const WindowShape shape, windowShape(emitter, node, *op.conv));
    const bool isGrouped = op.conv->groups > 1;
    const bool hasBias = !product.bias.empty();
    for (const bool isFixed : {true, false}) {
        const Desc source
            = isFixed ? codeLayout(shape.from, shape.source) : Desc(shape.from, shape.source, Tag::any);
        Desc result = isFixed ? codeLayout(shape.to, shape.result) : Desc(shape.to, shape.result, Tag::any);
        if (!isFixed) { // the addend wants to know where the result lies
            dnnl::primitive_attr bare;
            setScales(bare, product, isGrouped);
            const auto free = describeWindow(shape, source, result, hasBias, bare);
            if (!free)
                break;
            result = free.dst_desc();
        }
        ConvChoice choice;
        HALFTONE_TRY(choice.attributes, int8AttributesOf(emitter, node, op, result, product.sumStep));
        setScales(choice.attributes.attributes, product, isGrouped);
        choice.descriptor = describeWindow(shape, source, result, hasBias, choice.attributes.attributes);
        if (choice.descriptor && (!isFixed || !isUnhurried(choice.descriptor.impl_info_str())))
            return choice;
    }
    return unsupported("plan", "oneDNN has no int8 convolution for these shapes");
}

Place resultPlace(Emitter &emitter, plan::ValueId value, const Desc &desc, const Int8Attributes &attributes)
{
    if (!attributes.sum)
        return emitter.write(value, desc);
    Place place{desc, attributes.sum->buffer};
    emitter.replace(value, place);
    return place;
}

Result<void> lowerInt8Conv(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op)
{
    if (op.conv->layout != ops::Layout::ChannelsFirst)
        return unsupported("layout", "channels last");
    HALFTONE_TRY(const Int8Product product, int8ProductOf(emitter, node, op));
    HALFTONE_TRY(const bool isDone, lowerCodeConv(emitter, node, op, product));
    if (isDone)
        return {};
    if (!addsExactly())
        return lowerCodesAsReals(emitter, node, op, product);
    HALFTONE_TRY(const ConvChoice choice, chooseConv(emitter, node, op, product));
    const auto &descriptor = choice.descriptor;
    HALFTONE_TRY(const Place source, emitter.readAs(node.inputs[0], descriptor.src_desc()));
    const Desc weightDesc = descriptor.weights_desc();
    HALFTONE_TRY(const Place weights,
                 emitter.constant(product.codes, plainDesc(weightDesc.get_dims(), Type::s8), weightDesc));
    Program::Arguments arguments{{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}};
    HALFTONE_CHECK(addBias(emitter, product, choice.attributes.unit, arguments));
    HALFTONE_CHECK(addScales(emitter, product, choice.attributes, arguments));
    arguments.insert(arguments.end(), choice.attributes.arguments.begin(), choice.attributes.arguments.end());
    arguments.emplace_back(DNNL_ARG_DST,
                           resultPlace(emitter, node.outputs[0], descriptor.dst_desc(), choice.attributes));
    HALFTONE_TRY(const dnnl::convolution_forward primitive,
                 attempt(node.members[0], [&] { return dnnl::convolution_forward(descriptor); }));
    emitter.add(primitive, descriptor.impl_info_str(), std::move(arguments), descriptor.scratchpad_desc());
    return {};
}

Result<void> lowerInt8Full(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op)
{
    HALFTONE_TRY(const Int8Product product, int8ProductOf(emitter, node, op));
    if (!addsExactly())
        return lowerCodesAsReals(emitter, node, op, product);
    const Dims from = productDims(emitter.desc(node.inputs[0]).shape, op.full.flatten);
    const auto sourceType = dnnlType(emitter.desc(node.inputs[0]).dtype);
    const auto resultType = dnnlType(emitter.desc(node.outputs[0]).dtype);
    if (from.size() > 5 || !sourceType || !resultType)
        return unsupported("plan", "oneDNN has no inner product for this");
    Dims weightDims = from;
    weightDims[0] = emitter.desc(node.inputs[1]).shape[0];
    const Dims to{from[0], weightDims[0]};
    const Desc bias = product.bias.empty() ? Desc() : Desc(Dims{to[1]}, Type::f32, Tag::a);
    HALFTONE_TRY(Int8Attributes attributes,
                 int8AttributesOf(emitter, node, op, plainDesc(to, *resultType), product.sumStep));
    setScales(attributes.attributes, product, false);
    const auto describe = [&](const Desc &source) {
        return dnnl::inner_product_forward::primitive_desc(
            cpu(), prop_kind::forward_inference, source, Desc(weightDims, Type::s8, Tag::any), bias,
            plainDesc(to, *resultType), attributes.attributes, true);
    };
    // The weights are packed for the data as they lie.
    HALFTONE_TRY(const Place lies, emitter.read(node.inputs[0]));
    dnnl::inner_product_forward::primitive_desc descriptor(nullptr);
    if (lies.desc.get_dims() == from)
        descriptor = describe(lies.desc);
    if (!descriptor || isUnhurried(descriptor.impl_info_str()))
        descriptor = describe(Desc(from, *sourceType, Tag::any));
    if (!descriptor)
        return unsupported("plan", "oneDNN has no int8 inner product for these types");
    HALFTONE_TRY(const Place source, emitter.readAs(node.inputs[0], descriptor.src_desc()));
    const Desc weightDesc = descriptor.weights_desc();
    HALFTONE_TRY(const Place weights,
                 emitter.constant(product.codes, plainDesc(weightDims, Type::s8), weightDesc));
    Program::Arguments arguments{{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}};
    HALFTONE_CHECK(addBias(emitter, product, attributes.unit, arguments));
    HALFTONE_CHECK(addScales(emitter, product, attributes, arguments));
    const Dims given = dimsOf(emitter.desc(node.outputs[0]).shape);
    Place result = emitter.write(node.outputs[0], plainDesc(given, *resultType));
    result.desc = descriptor.dst_desc();
    arguments.emplace_back(DNNL_ARG_DST, result);
    HALFTONE_TRY(const dnnl::inner_product_forward primitive,
                 attempt(node.members[0], [&] { return dnnl::inner_product_forward(descriptor); }));
    emitter.add(primitive, descriptor.impl_info_str(), std::move(arguments), descriptor.scratchpad_desc());
    return {};
}

} // namespace

Result<void> lowerFusedProduct(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op)
{
    return op.conv ? lowerInt8Conv(emitter, node, op) : lowerInt8Full(emitter, node, op);
}

} // namespace halftone::backends::onednn
