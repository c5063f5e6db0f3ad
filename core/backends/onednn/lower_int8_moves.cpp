#include "core/backends/onednn/int8_scales.h"
#include "core/backends/onednn/loops/code_conv.h"
#include "core/backends/onednn/loops/join_rows.h"
#include "core/backends/onednn/loops/picture_codes.h"
#include "core/backends/onednn/loops/word_products.h"

#include <algorithm>
#include <cmath>

namespace halftone::backends::onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;

Result<Type> codeType(const Emitter &emitter, plan::ValueId value)
{
    const auto type = dnnlType(emitter.desc(value).dtype);
    if (type != Type::s8 && type != Type::u8)
        return unsupported("plan", "codes of other than 8 bits");
    return *type;
}

/// Few channels, one plane after the other.
std::optional<PicturePlanes> picturePlanes(const Place &source, const Dims &dims)
{
    if (dims.size() != 4 || dims[1] < 1 || dims[1] > kMostPictureChannels
        || source.desc != plainDesc(dims, Type::f32))
        return std::nullopt;
    return PicturePlanes{dims[0], dims[1], dims[2] * dims[3]};
}

/// The greatest codes of windows by a kernel of our own.
Result<void> lowerCodeMaxima(Emitter &emitter, const plan::PlanNode &node, const PoolWindow &window,
                             Type type)
{
    const Dims from = dimsOf(emitter.desc(node.inputs[0]).shape);
    const Dims to = dimsOf(emitter.desc(node.outputs[0]).shape);
    CodeMaxima maxima;
    maxima.pictures = from[0];
    maxima.channels = from[1];
    for (std::size_t k = 0; k < 2; ++k) {
        maxima.from[k] = from[2 + k];
        maxima.to[k] = to[2 + k];
        maxima.kernel[k] = window.kernel[k];
        maxima.stride[k] = window.stride[k];
        maxima.pad[k] = window.padBegin[k];
    }
    maxima.isSigned = type == Type::s8;
    HALFTONE_TRY(const Place source, emitter.readAs(node.inputs[0], codeLayout(from, type)));
    const Place result = emitter.write(node.outputs[0], codeLayout(to, type));
    emitter.addKernel(codeMaximaKernel(maxima, 0), {source.buffer}, {result.buffer});
    if (const Place pixel = normalised(result); pixel.desc != result.desc)
        emitter.replace(node.outputs[0], pixel);
    return {};
}

} // namespace

Result<void> lowerQuantize(Emitter &emitter, const plan::PlanNode &node, const ops::Quantize &quantize)
{
    HALFTONE_TRY(const Type type, codeType(emitter, node.outputs[0]));
    HALFTONE_CHECK(floatType(emitter, node.inputs[0]));
    if (quantize.rangeIsInput)
        return unsupported("plan", "quantizing by a given range");
    HALFTONE_TRY(const double scale, resultScale(emitter, node));
    HALFTONE_TRY(const Place source, emitter.read(node.inputs[0]));
    const Dims dims = dimsOf(emitter.desc(node.outputs[0]).shape);
    if (source.desc.get_dims() != dims)
        return unsupported("plan", "quantizing another view of a tensor");
    const auto planes = picturePlanes(source, dims);
    if (!planes || emitter.isPartOfConcat(node.outputs[0]))
        return rescale(emitter, node, source, emitter.write(node.outputs[0], codeLayout(dims, type)), scale);
    // A convolution may make the codes itself.
    emitter.postpone(node.outputs[0], source,
                     [&emitter, &node, planes = *planes, source, dims, type, scale]() -> Result<void> {
                         const Place result = emitter.write(node.outputs[0], codeLayout(dims, type));
                         emitter.addKernel(
                             pictureCodesKernel(planes, scale, emitter.desc(node.outputs[0]).dtype),
                             {source.buffer}, {result.buffer});
                         return {};
                     });
    return {};
}

Result<void> lowerDequantize(Emitter &emitter, const plan::PlanNode &node, const ops::Dequantize &dequantize)
{
    HALFTONE_CHECK(codeType(emitter, node.inputs[0]));
    if (dequantize.dtype != tensor::DType::F32)
        return unsupported("plan", "dequantizing to other than float32");
    HALFTONE_TRY(const Type type, floatType(emitter, node.outputs[0]));
    HALFTONE_TRY(const double scale, codeScale(emitter, node.inputs[0], node.inputs[1], node.inputs[2]));
    HALFTONE_TRY(const Place source, emitter.read(node.inputs[0]));
    if (!emitter.isPartOfConcat(node.outputs[0])) {
        emitter.defer(node.outputs[0], source, 1 / scale);
        return {};
    }
    return rescale(emitter, node, source, emitter.write(node.outputs[0], withType(source.desc, type)),
                   1 / scale);
}

Result<void> lowerInt8Pool(Emitter &emitter, const plan::PlanNode &node,
                           const ops::Quantized<ops::Pool> &pool)
{
    using Kind = ops::Pool::Kind;
    const ops::Pool &op = pool.op;
    HALFTONE_TRY(const Type type, codeType(emitter, node.inputs[0]));
    HALFTONE_CHECK(resultScale(emitter, node));
    if (op.layout != ops::Layout::ChannelsFirst || (op.kind != Kind::Max && op.kind != Kind::Average))
        return unsupported("plan", "this pooling on codes");
    const Dims from = dimsOf(emitter.desc(node.inputs[0]).shape);
    const Dims to = dimsOf(emitter.desc(node.outputs[0]).shape);
    if (from.size() < 3 || from.size() > 5 || to.size() != from.size())
        return unsupported("plan", "pooling over other than 1 to 3 axes");
    HALFTONE_TRY(const PoolWindow window,
                 poolWindow(op, from, to)); // averages count what is beyond, as MXNet's
    const Desc sourceDesc = codeLayout(from, type);
    if (op.kind == Kind::Max && from.size() == 4 && emitter.mayUseOwnConvolutions() && hasWideVectors())
        return lowerCodeMaxima(emitter, node, window, type);
    const algorithm kind = op.kind == Kind::Max ? algorithm::pooling_max
        : op.countPadding                       ? algorithm::pooling_avg_include_padding
                                                : algorithm::pooling_avg_exclude_padding;
    const dnnl::pooling_forward::primitive_desc descriptor(
        cpu(), prop_kind::forward_inference, kind, sourceDesc, codeLayout(to, type), window.stride,
        window.kernel, Dims(window.kernel.size(), 0), window.padBegin, window.padEnd, userScratchpad(), true);
    if (!descriptor)
        return unsupported("plan", "oneDNN has no pooling on codes for this window");
    HALFTONE_TRY(const Place source, emitter.readAs(node.inputs[0], sourceDesc));
    HALFTONE_TRY(const dnnl::pooling_forward primitive,
                 attempt(node.members[0], [&] { return dnnl::pooling_forward(descriptor); }));
    const Place result = emitter.write(node.outputs[0], descriptor.dst_desc());
    emitter.add(primitive, descriptor.impl_info_str(), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result}},
                descriptor.scratchpad_desc());
    if (const Place pixel = normalised(result); pixel.desc != result.desc)
        emitter.replace(node.outputs[0], pixel);
    return {};
}

Result<void> lowerInt8Relu(Emitter &emitter, const plan::PlanNode &node,
                           const ops::Quantized<ops::Activation> &activation)
{
    HALFTONE_CHECK(codeType(emitter, node.inputs[0]));
    HALFTONE_CHECK(resultScale(emitter, node));
    if (activation.op.kind != ops::UnaryKind::Relu
        || emitter.desc(node.inputs[0]).dtype != emitter.desc(node.outputs[0]).dtype)
        return unsupported("plan", "an activation on codes other than ReLU");
    HALFTONE_TRY(const Place source, emitter.read(node.inputs[0]));
    const dnnl::eltwise_forward::primitive_desc descriptor(cpu(), prop_kind::forward_inference,
                                                           algorithm::eltwise_relu, source.desc, source.desc,
                                                           0.0F, 0.0F, userScratchpad(), true);
    if (!descriptor)
        return unsupported("plan", "oneDNN has no ReLU on codes");
    HALFTONE_TRY(const dnnl::eltwise_forward primitive,
                 attempt(node.members[0], [&] { return dnnl::eltwise_forward(descriptor); }));
    const Place result = emitter.writeOver(node.outputs[0], source.desc, node.inputs[0], source);
    emitter.add(primitive, descriptor.impl_info_str(), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result}},
                descriptor.scratchpad_desc());
    return {};
}

Result<void> joinCodes(Emitter &emitter, const plan::PlanNode &node, std::size_t parts, const Place &result)
{
    const auto width = static_cast<std::size_t>(std::max<std::int64_t>(result.desc.get_dims()[1], 1));
    std::vector<JoinedPart> joined;
    std::vector<BufferId> buffers;
    std::size_t offset = 0;
    for (std::size_t k = 0; k < parts; ++k) {
        const Dims dims = dimsOf(emitter.desc(node.inputs[k]).shape);
        const auto channels = static_cast<std::size_t>(dims[1]);
        if (!emitter.liesIn(node.inputs[k], result)) {
            HALFTONE_TRY(const Place part,
                         emitter.readAs(node.inputs[k], codeLayout(dims, result.desc.get_data_type())));
            joined.push_back({channels, offset});
            buffers.push_back(part.buffer);
        }
        offset += channels;
    }
    if (!joined.empty())
        emitter.addKernel(joinRowsKernel(result.desc.get_size() / width, std::move(joined), width),
                          std::move(buffers), {result.buffer});
    return {};
}

Result<void> lowerInt8Concat(Emitter &emitter, const plan::PlanNode &node,
                             const ops::Quantized<ops::Concat> &concat)
{
    const auto parts = static_cast<std::size_t>(concat.op.inputs);
    const plan::ValueId whole = node.outputs[0];
    HALFTONE_TRY(const Type type, codeType(emitter, whole));
    HALFTONE_TRY(const double scale, resultScale(emitter, node));
    const Dims to = dimsOf(emitter.desc(whole).shape);
    const auto axis
        = concat.op.axis < 0 ? concat.op.axis + static_cast<std::int64_t>(to.size()) : concat.op.axis;
    std::vector<double> factors;
    for (std::size_t k = 0; k < parts; ++k) {
        HALFTONE_TRY(
            const double own,
            codeScale(emitter, node.inputs[k], node.inputs[parts + 2 * k], node.inputs[parts + 2 * k + 1]));
        factors.push_back(scale / own);
    }
    const Place result = emitter.write(whole, codeLayout(to, type));
    const bool onlyCopies = std::ranges::all_of(factors, [](double factor) { return factor == 1; })
        && std::ranges::all_of(node.inputs.begin(), node.inputs.begin() + static_cast<std::ptrdiff_t>(parts),
                               [&](plan::ValueId part) {
                                   return emitter.desc(part).dtype == emitter.desc(whole).dtype;
                               });
    if (onlyCopies && axis == 1)
        return joinCodes(emitter, node, parts, result);
    Dims offset(to.size(), 0);
    for (std::size_t k = 0; k < parts; ++k) {
        const Dims dims = dimsOf(emitter.desc(node.inputs[k]).shape);
        const auto target
            = attempt(node.members[0], [&] { return result.desc.submemory_desc(dims, offset); });
        if (!target.ok())
            return target.error();
        HALFTONE_TRY(
            const Place part,
            emitter.readAs(node.inputs[k], codeLayout(dims, *dnnlType(emitter.desc(node.inputs[k]).dtype))));
        HALFTONE_CHECK(rescale(emitter, node, part, {target.value(), result.buffer}, factors[k]));
        offset[static_cast<std::size_t>(axis)] += dims[static_cast<std::size_t>(axis)];
    }
    return {};
}

Result<void> lowerInt8Binary(Emitter &emitter, const plan::PlanNode &node,
                             const ops::Quantized<ops::Binary> &binary)
{
    if (binary.op.kind != ops::BinaryKind::Add || node.outputs.size() != 3)
        return unsupported("plan", "a product of codes");
    HALFTONE_TRY(const Type type, codeType(emitter, node.outputs[0]));
    HALFTONE_TRY(double scale, resultScale(emitter, node));
    if (!node.post.empty()) { // sums of 32 bits in between, whose steps are too fine to tell
        const auto *requantize = node.post[0].op.getIf<ops::Requantize>();
        const auto codes = requantize == nullptr
            ? std::nullopt
            : ops::requantizedTo(*requantize, emitter.desc(node.outputs[0]).dtype);
        if (!codes || node.post.size() != 1)
            return unsupported("plan", "a sum of codes with this behind it");
        scale = codes->scale();
    }
    const bool isMixed
        = node.post.empty() && emitter.desc(node.inputs[0]).dtype != emitter.desc(node.inputs[1]).dtype;
    const Dims dims = dimsOf(emitter.desc(node.outputs[0]).shape);
    for (std::size_t k = 0; k < 2; ++k)
        if (dimsOf(emitter.desc(node.inputs[k]).shape) != dims)
            return unsupported("plan", "a sum of codes of several shapes");
    std::array<Addend, 2> addends;
    for (std::size_t k = 0; k < 2; ++k) {
        HALFTONE_TRY(const Type from, codeType(emitter, node.inputs[k]));
        HALFTONE_TRY(const double own,
                     codeScale(emitter, node.inputs[k], node.inputs[2 + 2 * k], node.inputs[3 + 2 * k]));
        HALFTONE_TRY(const Place place, emitter.readAs(node.inputs[k], codeLayout(dims, from)));
        addends[k] = {place, scale / own};
        if (isMixed && from == Type::u8) { // MXNet makes int8 of it first
            addends[k] = {emitter.temporary(codeLayout(dims, Type::s8)), 1};
            HALFTONE_CHECK(rescale(emitter, node, place, addends[k].codes, scale / own));
        }
    }
    return addCodes(emitter, node, addends, codeLayout(dims, type), userScratchpad());
}

namespace {

Result<std::vector<float>> constantFloats(const Emitter &emitter, plan::ValueId value)
{
    const plan::PlanValue &known = emitter.graph().values[value];
    if (!known.constant || known.desc.dtype != tensor::DType::F32)
        return unsupported("plan", "a parameter that is only known at run time");
    return known.constant->values<float>();
}

} // namespace

/// oneDNN normalises int8 with scales and shifts of reals: mean 0 and variance 1 leave a factor and an offset a channel.
Result<void> lowerInt8BatchNorm(Emitter &emitter, const plan::PlanNode &node,
                                const ops::Quantized<ops::BatchNormalization> &norm)
{
    HALFTONE_TRY(const Type from, codeType(emitter, node.inputs[0]));
    HALFTONE_TRY(const double scale, resultScale(emitter, node));
    HALFTONE_TRY(double own, codeScale(emitter, node.inputs[0], node.inputs[5], node.inputs[6]));
    HALFTONE_TRY(const Type type, codeType(emitter, node.outputs[0]));
    const Dims dims = dimsOf(emitter.desc(node.inputs[0]).shape);
    if (type != Type::s8 || dims.size() != 4)
        return unsupported("plan", "BatchNorm on codes of this type and rank");
    const Desc layout = codeLayout(dims, Type::s8);
    HALFTONE_TRY(Place source, emitter.readAs(node.inputs[0], codeLayout(dims, from)));
    if (from == Type::u8) {
        const double toSigned = ops::codesOfData(tensor::DType::I8) / ops::codesOfData(tensor::DType::U8);
        const Place halved = emitter.temporary(layout);
        HALFTONE_CHECK(rescale(emitter, node, source, halved, toSigned));
        source = halved;
        own *= toSigned;
    }
    std::vector<std::vector<float>> parameters;
    for (std::size_t k = 1; k < 5; ++k) {
        HALFTONE_TRY(std::vector<float> values, constantFloats(emitter, node.inputs[k]));
        parameters.push_back(std::move(values));
    }
    const std::size_t channels = parameters[0].size();
    std::vector<float> factors(channels);
    std::vector<float> offsets(channels);
    for (std::size_t c = 0; c < channels; ++c) {
        const double gamma = (norm.op.fixGamma ? 1 : double{parameters[0][c]})
            / std::sqrt(double{parameters[3][c]} + norm.op.epsilon);
        factors[c] = static_cast<float>(gamma * scale / own);
        offsets[c]
            = static_cast<float>((double{parameters[1][c]} - double{parameters[2][c]} * gamma) * scale);
        // oneDNN rounds to 32 bits before it saturates: what lies beyond becomes the least code, of either sign.
        if (!(std::abs(factors[c]) * 128 + std::abs(offsets[c]) < 0x1p31F))
            return unsupported("plan", "BatchNorm on codes whose results pass 32 bits");
    }
    using dnnl::normalization_flags;
    const dnnl::batch_normalization_forward::primitive_desc descriptor(
        cpu(), prop_kind::forward_inference, layout, layout, 0.0F,
        normalization_flags::use_global_stats | normalization_flags::use_scale
            | normalization_flags::use_shift,
        userScratchpad(), true);
    if (!descriptor)
        return unsupported("plan", "oneDNN has no BatchNorm on codes for this");
    HALFTONE_TRY(const Place factor, floats(emitter, factors));
    HALFTONE_TRY(const Place offset, floats(emitter, offsets));
    HALFTONE_TRY(const Place mean, floats(emitter, std::vector<float>(channels, 0)));
    HALFTONE_TRY(const Place variance, floats(emitter, std::vector<float>(channels, 1)));
    HALFTONE_TRY(const dnnl::batch_normalization_forward primitive,
                 attempt(node.members[0], [&] { return dnnl::batch_normalization_forward(descriptor); }));
    const Place result = emitter.write(node.outputs[0], layout);
    emitter.add(primitive, descriptor.impl_info_str(),
                {{DNNL_ARG_SRC, source},
                 {DNNL_ARG_MEAN, mean},
                 {DNNL_ARG_VARIANCE, variance},
                 {DNNL_ARG_SCALE, factor},
                 {DNNL_ARG_SHIFT, offset},
                 {DNNL_ARG_DST, result}},
                descriptor.scratchpad_desc());
    return {};
}

Result<void> lowerInt8Flatten(Emitter &emitter, const plan::PlanNode &node,
                              const ops::Quantized<ops::Flatten> &)
{
    HALFTONE_CHECK(resultScale(emitter, node));
    return lowerView(emitter, node);
}

} // namespace halftone::backends::onednn
