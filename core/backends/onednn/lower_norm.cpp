#include "core/backends/onednn/loops/channel_norm_kernel.h"
#include "core/backends/onednn/loops/mean_square_kernel.h"
#include "core/backends/onednn/loops/row_norm_kernel.h"
#include "core/backends/onednn/lower.h"

namespace halftone::backends::onednn {
namespace {

using dnnl::normalization_flags;
using dnnl::prop_kind;

/// Does somebody read other results than the first?
Result<void> onlyFirstResult(const Emitter &emitter, const plan::PlanNode &node)
{
    for (std::size_t k = 1; k < node.outputs.size(); ++k)
        if (emitter.isRead(node.outputs[k]))
            return unsupported("plan", "statistics as a result");
    return {};
}

Result<Place> readFloats(Emitter &emitter, plan::ValueId value, dnnl::memory::dim count)
{
    HALFTONE_TRY(const Type type, floatType(emitter, value));
    (void)type;
    return emitter.readAs(value, plainDesc({count}, Type::f32));
}

constexpr std::int64_t kWorthOwnNorm = 16; // elements of a channel, side by side

std::int64_t placesOf(const tensor::Shape &shape)
{
    std::int64_t places = 1;
    for (std::size_t axis = 2; axis < shape.rank(); ++axis)
        places *= shape[axis];
    return places;
}

/// Of data that lies channel by channel.
Result<void> normaliseChannels(Emitter &emitter, const plan::PlanNode &node,
                               const ops::BatchNormalization &norm, const Place &source)
{
    const kernels::TensorDesc &data = emitter.desc(node.inputs[0]);
    const ChannelNorm channels{data.shape[0],        data.shape[1],
                               placesOf(data.shape), static_cast<float>(norm.epsilon),
                               !norm.fixGamma,       data.dtype};
    std::vector<BufferId> inputs{source.buffer};
    for (const std::size_t input : {2, 3, 4, 1}) {
        if (input == 1 && norm.fixGamma)
            continue;
        HALFTONE_TRY(const Place values, readFloats(emitter, node.inputs[input], data.shape[1]));
        inputs.push_back(values.buffer);
    }
    const Place result = emitter.writeOver(node.outputs[0], source.desc, node.inputs[0], source);
    emitter.addKernel(channelNormKernel(channels), std::move(inputs), {result.buffer});
    return {};
}

} // namespace

Result<void> lowerBatchNormalization(Emitter &emitter, const plan::PlanNode &node,
                                     const ops::BatchNormalization &norm)
{
    HALFTONE_TRY(const Type type, floatType(emitter, node.inputs[0]));
    HALFTONE_CHECK(onlyFirstResult(emitter, node));
    const tensor::Shape &shape = emitter.desc(node.inputs[0]).shape;
    const auto rank = static_cast<std::int64_t>(shape.rank());
    if (rank < 2 || rank > 5 || (norm.axis < 0 ? norm.axis + rank : norm.axis) != 1
        || node.inputs.size() != 5)
        return unsupported("axis", std::to_string(norm.axis));
    if (emitter.desc(node.outputs[0]).dtype != emitter.desc(node.inputs[0]).dtype)
        return unsupported("plan", "normalisation into another type");
    HALFTONE_TRY(const Place source, emitter.read(node.inputs[0]));
    if (source.desc == plainDesc(dimsOf(shape), type) && node.post.empty()
        && placesOf(shape) >= kWorthOwnNorm)
        return normaliseChannels(emitter, node, norm, source);
    normalization_flags flags = normalization_flags::use_global_stats | normalization_flags::use_shift;
    if (!norm.fixGamma)
        flags = flags | normalization_flags::use_scale;
    if (!node.post.empty()) // fusePostOps() gives a normalisation nothing but this
        flags = flags | normalization_flags::fuse_norm_relu;
    const dnnl::batch_normalization_forward::primitive_desc descriptor(
        cpu(), prop_kind::forward_inference, source.desc, withType(source.desc, type),
        static_cast<float>(norm.epsilon), flags, userScratchpad(), true);
    if (!descriptor)
        return unsupported("plan", "oneDNN has no normalisation for this layout");
    Program::Arguments arguments{{DNNL_ARG_SRC, source}};
    const std::pair<int, std::size_t> parameters[]
        = {{DNNL_ARG_SCALE, 1}, {DNNL_ARG_SHIFT, 2}, {DNNL_ARG_MEAN, 3}, {DNNL_ARG_VARIANCE, 4}};
    for (const auto &[argument, input] : parameters) {
        if (argument == DNNL_ARG_SCALE && norm.fixGamma)
            continue;
        HALFTONE_TRY(const Place values, readFloats(emitter, node.inputs[input], shape[1]));
        arguments.emplace_back(argument, values);
    }
    arguments.emplace_back(DNNL_ARG_DST,
                           emitter.writeOver(node.outputs[0], descriptor.dst_desc(), node.inputs[0], source));
    HALFTONE_TRY(const dnnl::batch_normalization_forward primitive,
                 attempt(node.members[0], [&] { return dnnl::batch_normalization_forward(descriptor); }));
    emitter.add(primitive, descriptor.impl_info_str(), std::move(arguments), descriptor.scratchpad_desc());
    return {};
}

namespace {

/// Where a result goes that is computed as `written`: its own place, or one from which castRows() brings it there.
Place placeOfRows(Emitter &emitter, const plan::PlanNode &node, const Desc &written)
{
    const kernels::TensorDesc &result = emitter.desc(node.outputs[0]);
    if (dtypeOf(written.get_data_type()) != result.dtype)
        return emitter.temporary(written);
    Place place = emitter.write(node.outputs[0], plainDesc(dimsOf(result.shape), written.get_data_type()));
    place.desc = written;
    return place;
}

Result<void> castRows(Emitter &emitter, const plan::PlanNode &node, const Place &computed)
{
    const kernels::TensorDesc &result = emitter.desc(node.outputs[0]);
    if (dtypeOf(computed.desc.get_data_type()) == result.dtype)
        return {};
    Place target = emitter.write(node.outputs[0], plainDesc(dimsOf(result.shape), *dnnlType(result.dtype)));
    target.desc = withType(computed.desc, target.desc.get_data_type());
    return emitter.reorder(computed, target, kernels::StepKind::Cast);
}

/// Normalisation of rows of the last `axes` axes. Inputs: data, gamma[, beta].
Result<void> normaliseRows(Emitter &emitter, const plan::PlanNode &node, std::size_t axes, double epsilon)
{
    HALFTONE_CHECK(floatType(emitter, node.inputs[0]));
    HALFTONE_CHECK(floatType(emitter, node.outputs[0]));
    HALFTONE_CHECK(onlyFirstResult(emitter, node));
    const kernels::TensorDesc &data = emitter.desc(node.inputs[0]);
    CentredRows rows{1,
                     1,
                     static_cast<float>(epsilon),
                     node.inputs.size() > 2,
                     data.dtype,
                     emitter.desc(node.outputs[0]).dtype};
    for (std::size_t axis = 0; axis < data.shape.rank(); ++axis)
        (axis + axes < data.shape.rank() ? rows.rows : rows.width) *= data.shape[axis];
    for (std::size_t k = 1; k < node.inputs.size(); ++k)
        if (emitter.desc(node.inputs[k]).shape.elementCount() != rows.width)
            return unsupported("plan", "parameters that stretch");
    HALFTONE_TRY(const Place source, emitter.readPlain(node.inputs[0]));
    std::vector<BufferId> inputs{source.buffer};
    for (std::size_t k = 1; k < node.inputs.size(); ++k) {
        HALFTONE_TRY(const Place values, readFloats(emitter, node.inputs[k], rows.width));
        inputs.push_back(values.buffer);
    }
    emitter.addKernel(rowNormKernel(rows), std::move(inputs), {emitter.writePlain(node.outputs[0]).buffer});
    return {};
}

/// Rows of the last `axes` axes divided by the root of their mean square. Inputs: data, gamma.
Result<void> divideRows(Emitter &emitter, const plan::PlanNode &node, std::size_t axes, double epsilon)
{
    HALFTONE_CHECK(floatType(emitter, node.inputs[0]));
    HALFTONE_CHECK(floatType(emitter, node.outputs[0]));
    HALFTONE_CHECK(onlyFirstResult(emitter, node));
    const kernels::TensorDesc &data = emitter.desc(node.inputs[0]);
    MeanSquareRows rows{1, 1, static_cast<float>(epsilon), data.dtype, emitter.desc(node.outputs[0]).dtype};
    for (std::size_t axis = 0; axis < data.shape.rank(); ++axis)
        (axis + axes < data.shape.rank() ? rows.rows : rows.width) *= data.shape[axis];
    if (node.inputs.size() != 2 || emitter.desc(node.inputs[1]).shape.elementCount() != rows.width)
        return unsupported("plan", "parameters that stretch, or a shift");
    HALFTONE_TRY(const Place source, emitter.readPlain(node.inputs[0]));
    HALFTONE_TRY(const Place gamma, readFloats(emitter, node.inputs[1], rows.width));
    emitter.addKernel(meanSquareKernel(rows), {source.buffer, gamma.buffer},
                      {emitter.writePlain(node.outputs[0]).buffer});
    return {};
}

} // namespace

Result<void> lowerLayerNormalization(Emitter &emitter, const plan::PlanNode &node,
                                     const ops::LayerNormalization &norm)
{
    const auto rank = static_cast<std::int64_t>(emitter.desc(node.inputs[0]).shape.rank());
    const std::int64_t first = norm.axis < 0 ? norm.axis + rank : norm.axis;
    if (first < 0 || first >= rank || (norm.oneAxis && first != rank - 1))
        return unsupported("axis", std::to_string(norm.axis));
    if (!norm.centred)
        return divideRows(emitter, node, static_cast<std::size_t>(rank - first), norm.epsilon);
    return normaliseRows(emitter, node, static_cast<std::size_t>(rank - first), norm.epsilon);
}

namespace {

/// How many rows there are and how long they are, where `reduce` makes one number of each.
std::optional<Dims> rowsOf(const ops::Reduce &reduce, const tensor::Shape &shape)
{
    const auto rank = static_cast<std::int64_t>(shape.rank());
    std::vector<bool> isNamed(shape.rank(), reduce.axes.empty());
    for (const std::int64_t axis : reduce.axes) {
        const std::int64_t at = axis < 0 ? axis + rank : axis;
        if (at < 0 || at >= rank)
            return std::nullopt;
        isNamed[static_cast<std::size_t>(at)] = true;
    }
    Dims rows{1, 1};
    bool isAlong = false;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        if (shape[axis] == 1) // belongs to either
            continue;
        const bool isReduced = isNamed[axis] != (reduce.exclude && !reduce.axes.empty());
        if (isAlong && !isReduced)
            return std::nullopt;
        isAlong = isReduced;
        rows[isReduced ? 1 : 0] *= shape[axis];
    }
    return rows;
}

} // namespace

/// Sums and means along the last axes, in float32.
Result<void> lowerReduce(Emitter &emitter, const plan::PlanNode &node, const ops::Reduce &reduce)
{
    HALFTONE_TRY(const Type type, floatType(emitter, node.inputs[0]));
    HALFTONE_TRY(const Type resultType, floatType(emitter, node.outputs[0]));
    if ((reduce.kind != ops::Reduce::Kind::Sum && reduce.kind != ops::Reduce::Kind::Mean)
        || reduce.eachElement)
        return unsupported("plan", "a reduction other than a sum or mean");
    const auto rows = rowsOf(reduce, emitter.desc(node.inputs[0]).shape);
    if (!rows)
        return unsupported("plan", "a reduction along other axes than the last");
    const dnnl::reduction::primitive_desc descriptor(
        cpu(),
        reduce.kind == ops::Reduce::Kind::Sum ? dnnl::algorithm::reduction_sum
                                              : dnnl::algorithm::reduction_mean,
        plainDesc(*rows, type), plainDesc({(*rows)[0], 1}, resultType), 0, 0, userScratchpad(), true);
    if (!descriptor)
        return unsupported("plan", "oneDNN has no reduction for these types");
    HALFTONE_TRY(Place source, emitter.readPlain(node.inputs[0]));
    source.desc = descriptor.src_desc();
    HALFTONE_TRY(const dnnl::reduction primitive,
                 attempt(node.members[0], [&] { return dnnl::reduction(descriptor); }));
    Place result
        = emitter.write(node.outputs[0], plainDesc(dimsOf(emitter.desc(node.outputs[0]).shape), resultType));
    result.desc = descriptor.dst_desc();
    emitter.add(primitive, descriptor.impl_info_str(), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result}},
                descriptor.scratchpad_desc());
    return {};
}

Result<void> lowerLRN(Emitter &emitter, const plan::PlanNode &node, const ops::LRN &norm)
{
    HALFTONE_TRY(const Type type, floatType(emitter, node.inputs[0]));
    HALFTONE_CHECK(onlyFirstResult(emitter, node));
    if (norm.size % 2 == 0)
        return unsupported("plan", "as many neighbours on one side as on the other");
    if (emitter.desc(node.inputs[0]).shape.rank() != 4
        || emitter.desc(node.outputs[0]).dtype != emitter.desc(node.inputs[0]).dtype)
        return unsupported("plan", "local response normalisation of other than pictures");
    HALFTONE_TRY(const Place source, emitter.read(node.inputs[0]));
    const dnnl::lrn_forward::primitive_desc descriptor(
        cpu(), prop_kind::forward_inference, dnnl::algorithm::lrn_across_channels, source.desc,
        withType(source.desc, type), norm.size, static_cast<float>(norm.alpha), static_cast<float>(norm.beta),
        static_cast<float>(norm.k), userScratchpad(), true);
    if (!descriptor)
        return unsupported("plan", "oneDNN has no local response normalisation for this layout");
    HALFTONE_TRY(const dnnl::lrn_forward primitive,
                 attempt(node.members[0], [&] { return dnnl::lrn_forward(descriptor); }));
    emitter.add(
        primitive, descriptor.impl_info_str(),
        {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, emitter.write(node.outputs[0], descriptor.dst_desc())}},
        descriptor.scratchpad_desc());
    return {};
}

namespace {

/// Softmax of `dims`, which may be another view of the input than its shape.
Result<void> softmaxOver(Emitter &emitter, const plan::PlanNode &node, dnnl::algorithm kind, const Dims &dims,
                         int axis)
{
    HALFTONE_TRY(const Type type, floatType(emitter, node.inputs[0]));
    HALFTONE_TRY(const Type resultType, floatType(emitter, node.outputs[0]));
    HALFTONE_TRY(Place source, emitter.readPlain(node.inputs[0]));
    source.desc = plainDesc(dims, type);
    const auto descriptorFor = [&](Type written) {
        return dnnl::softmax_forward::primitive_desc(cpu(), prop_kind::forward_inference, kind, source.desc,
                                                     plainDesc(dims, written), axis, userScratchpad(), true);
    };
    auto descriptor = descriptorFor(resultType);
    if (!descriptor) // cast afterwards then
        descriptor = descriptorFor(type);
    if (!descriptor)
        return unsupported("plan", "oneDNN has no softmax for these types");
    HALFTONE_TRY(const dnnl::softmax_forward primitive,
                 attempt(node.members[0], [&] { return dnnl::softmax_forward(descriptor); }));
    const Place result = placeOfRows(emitter, node, descriptor.dst_desc());
    emitter.add(primitive, descriptor.impl_info_str(), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result}},
                descriptor.scratchpad_desc());
    return castRows(emitter, node, result);
}

} // namespace

Result<void> lowerSoftmax(Emitter &emitter, const plan::PlanNode &node, const ops::Softmax &softmax)
{
    if (softmax.temperature.value_or(1) != 1 || softmax.useLength
        || softmax.kind == ops::Softmax::Kind::Softmin || softmax.kind == ops::Softmax::Kind::Hardmax
        || softmax.flattened)
        return unsupported("plan", "a softmax with temperature or length, over several axes, or another one");
    const Dims dims = dimsOf(emitter.desc(node.inputs[0]).shape);
    const auto axis = softmax.axis < 0 ? softmax.axis + static_cast<std::int64_t>(dims.size()) : softmax.axis;
    return softmaxOver(emitter, node,
                       softmax.kind == ops::Softmax::Kind::Softmax ? dnnl::algorithm::softmax_accurate
                                                                   : dnnl::algorithm::softmax_log,
                       dims, static_cast<int>(axis));
}

Result<void> lowerSoftmaxActivation(Emitter &emitter, const plan::PlanNode &node,
                                    const ops::SoftmaxActivation &softmax)
{
    const Dims dims = dimsOf(emitter.desc(node.inputs[0]).shape);
    const int axis = softmax.channel ? 1 : static_cast<int>(dims.size()) - 1;
    return softmaxOver(emitter, node, dnnl::algorithm::softmax_accurate, dims, axis);
}

} // namespace halftone::backends::onednn
