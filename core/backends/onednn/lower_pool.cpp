#include "core/backends/onednn/lower.h"
#include "core/ops/resampled.h"
#include "core/ops/window.h"

#include <algorithm>
#include <cmath>

namespace halftone::backends::onednn {

using dnnl::algorithm;
using dnnl::prop_kind;

Result<PoolWindow> poolWindow(const ops::Pool &pool, const Dims &from, const Dims &to)
{
    PoolWindow window;
    if (pool.global) {
        window.kernel.assign(from.begin() + 2, from.end());
        window.stride.assign(window.kernel.size(), 1);
        window.padBegin.assign(window.kernel.size(), 0);
        window.padEnd = window.padBegin;
        return window;
    }
    HALFTONE_TRY(const ops::Window given, ops::makeWindow(pool.kernel, pool.stride, pool.dilate, pool.pad));
    window.kernel = given.kernel;
    window.stride = given.stride;
    window.padBegin = given.padBegin;
    window.padEnd = given.padEnd;
    for (std::size_t k = 0; k < window.kernel.size(); ++k) {
        const auto needed
            = (to[2 + k] - 1) * window.stride[k] + window.kernel[k] - from[2 + k] - window.padBegin[k];
        window.reachesBeyond = window.reachesBeyond || needed > given.padEnd[k];
        window.padEnd[k] = needed;
    }
    return window;
}

namespace {

/// Codes of 8 bits are moved as reals are.
Result<Type> movedType(const Emitter &emitter, plan::ValueId value)
{
    const auto type = dnnlType(emitter.desc(value).dtype);
    return type == Type::s8 || type == Type::u8 ? Result<Type>(*type) : floatType(emitter, value);
}

} // namespace

Result<void> lowerPool(Emitter &emitter, const plan::PlanNode &node, const ops::Pool &pool)
{
    using Kind = ops::Pool::Kind;
    HALFTONE_TRY(const Type type,
                 pool.kind == Kind::Max ? movedType(emitter, node.inputs[0])
                                        : floatType(emitter, node.inputs[0]));
    if (pool.layout != ops::Layout::ChannelsFirst)
        return unsupported("layout", "channels last");
    if (pool.kind != Kind::Max && pool.kind != Kind::Average)
        return unsupported("pool_type", "neither max nor average");
    if (pool.padsZeros && pool.kind == Kind::Max && !pool.global)
        return unsupported("plan", "padding of zeros that count in a maximum");
    if (std::ranges::any_of(pool.dilate, [](std::int64_t step) { return step != 1; }))
        return unsupported("plan", "a pooling window with gaps");
    if (node.outputs.size() > 1 && emitter.desc(node.outputs[1]).dtype == tensor::DType::I64)
        return unsupported("plan", "the places of maxima");
    if (emitter.desc(node.outputs[0]).dtype != emitter.desc(node.inputs[0]).dtype)
        return unsupported("plan", "pooling into another type");
    HALFTONE_TRY(const Place source, emitter.read(node.inputs[0]));
    const Dims from = dimsOf(emitter.desc(node.inputs[0]).shape);
    const Dims to = dimsOf(emitter.desc(node.outputs[0]).shape);
    if (from.size() < 3 || from.size() > 5 || to.size() != from.size())
        return unsupported("plan", "pooling over other than 1 to 3 axes");
    HALFTONE_TRY(const PoolWindow window, poolWindow(pool, from, to));
    // Beyond the padding there is nothing to count, for oneDNN it would be padding.
    if (pool.kind == Kind::Average && pool.countPadding && window.reachesBeyond && !pool.padsZeros)
        return unsupported("pooling_convention", "an average whose window reaches beyond the padding");
    const algorithm kind = pool.kind == Kind::Max ? algorithm::pooling_max
        : pool.countPadding                       ? algorithm::pooling_avg_include_padding
                                                  : algorithm::pooling_avg_exclude_padding;
    dnnl::primitive_attr attributes = userScratchpad();
    const dnnl::pooling_forward::primitive_desc descriptor(
        cpu(), prop_kind::forward_inference, kind, source.desc, Desc(to, type, Tag::any), window.stride,
        window.kernel, Dims(window.kernel.size(), 0), window.padBegin, window.padEnd, attributes, true);
    if (!descriptor)
        return unsupported("plan", "oneDNN has no pooling for this window");
    HALFTONE_TRY(const dnnl::pooling_forward primitive,
                 attempt(node.members[0], [&] { return dnnl::pooling_forward(descriptor); }));
    emitter.add(
        primitive, descriptor.impl_info_str(),
        {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, emitter.write(node.outputs[0], descriptor.dst_desc())}},
        descriptor.scratchpad_desc());
    return {};
}

namespace {

/// Does each element of the result come of the one that lies below it, along spatial axes that grow by whole factors?
bool repeatsPixels(const ops::Resize &op, const tensor::Shape &data, const tensor::Shape &result)
{
    using Places = ops::Resize::Places;
    using Rounding = ops::Resize::Rounding;
    const bool fromBelow = op.rounding == Rounding::Down
        && (op.places == Places::Asymmetric || op.places == Places::HalfPixelNearest);
    const bool fromMiddles = (op.rounding == Rounding::HalfDown || op.rounding == Rounding::HalfUp)
        && (op.places == Places::HalfPixel || op.places == Places::HalfPixelSymmetric
            || op.places == Places::HalfPixelOrZero);
    if (op.mode != ops::Resize::Mode::Nearest || (!fromBelow && !fromMiddles) || data.rank() < 3
        || data.rank() > 5)
        return false;
    const auto axes = ops::resampledAxes(op, data);
    return axes.ok() && std::ranges::all_of(axes.value(), [&](const ops::ResampledAxis &one) {
               return (one.axis >= 2 || one.scale == 1) && one.scale >= 1
                   && one.scale == std::floor(one.scale)
                   && static_cast<double>(data[one.axis]) * one.scale
                   == static_cast<double>(result[one.axis]);
           });
}

Result<void> repeatPixels(Emitter &emitter, const plan::PlanNode &node)
{
    HALFTONE_TRY(const Type type, movedType(emitter, node.inputs[0]));
    HALFTONE_TRY(const Place source, emitter.read(node.inputs[0]));
    const Dims to = dimsOf(emitter.desc(node.outputs[0]).shape);
    dnnl::primitive_attr attributes = userScratchpad();
    const dnnl::resampling_forward::primitive_desc descriptor(cpu(), prop_kind::forward_inference,
                                                              algorithm::resampling_nearest, source.desc,
                                                              Desc(to, type, Tag::any), attributes, true);
    if (!descriptor)
        return unsupported("plan", "oneDNN has no resampling for this shape");
    HALFTONE_TRY(const dnnl::resampling_forward primitive,
                 attempt(node.members[0], [&] { return dnnl::resampling_forward(descriptor); }));
    emitter.add(
        primitive, descriptor.impl_info_str(),
        {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, emitter.write(node.outputs[0], descriptor.dst_desc())}},
        descriptor.scratchpad_desc());
    return {};
}

} // namespace

Result<void> lowerUpsample(Emitter &emitter, const plan::PlanNode &node, const ops::Upsample &upsample)
{
    return upsample.kind == ops::Upsample::Kind::Nearest && node.inputs.size() == 1
        ? repeatPixels(emitter, node)
        : unsupported("sample_type", "other than nearest of one input");
}

Result<void> lowerResize(Emitter &emitter, const plan::PlanNode &node, const ops::Resize &resample)
{
    return repeatsPixels(resample, emitter.desc(node.inputs[0]).shape, emitter.desc(node.outputs[0]).shape)
        ? repeatPixels(emitter, node)
        : unsupported("plan", "resizing other than by repeating pixels");
}

} // namespace halftone::backends::onednn
