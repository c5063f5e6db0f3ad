#include "core/backends/onednn/loops/stretched_binary.h"
#include "core/backends/onednn/lower.h"

#include <algorithm>
#include <string>

namespace halftone::backends::onednn {
using dnnl::prop_kind;

namespace {

/// The axes of a tensor that lies as `desc` says, in the order of memory: each as the dimension that it counts and how many elements of that are a
/// step of it.
struct MemoryAxis
{
    std::size_t dim = 0;
    std::int64_t count = 1;
    std::int64_t block = 1;
};

std::vector<MemoryAxis> memoryAxes(Format format, const Dims &dims)
{
    std::vector<MemoryAxis> axes;
    const std::int64_t block = format == Format::Blocked ? channelBlock() : 1;
    for (std::size_t k = 0; k < dims.size(); ++k) {
        if (k == 1 && format == Format::ChannelsLast)
            continue;
        axes.push_back({k, k == 1 ? dims[k] / block : dims[k], k == 1 ? block : 1});
    }
    if (format == Format::Blocked)
        axes.push_back({1, block, 1});
    if (format == Format::ChannelsLast)
        axes.push_back({1, dims[1], 1});
    return axes;
}

Dims frontStretched(const tensor::Shape &shape, std::size_t rank)
{
    Dims dims(rank, 1);
    for (std::size_t k = 0; k < shape.rank(); ++k)
        dims[rank - shape.rank() + k] = shape[k];
    return dims;
}

/// By a loop of our own, where oneDNN has its reference kernel or none. The result lies as a side does that is not stretched.
Result<void> lowerStretched(Emitter &emitter, const plan::PlanNode &node, const ops::Binary &binary)
{
    HALFTONE_TRY(const Type resultType, floatType(emitter, node.outputs[0]));
    const Dims to = dimsOf(emitter.desc(node.outputs[0]).shape);
    std::array<Dims, 2> dims;
    std::array<Type, 2> types{};
    std::array<Place, 2> places;
    for (std::size_t side = 0; side < 2; ++side) {
        HALFTONE_TRY(types.at(side), floatType(emitter, node.inputs[side]));
        dims.at(side) = frontStretched(emitter.desc(node.inputs[side]).shape, to.size());
    }
    Format format = Format::Plain;
    const std::size_t whole = dims[0] == to ? 0 : 1;
    if (dims.at(whole) == to) {
        HALFTONE_TRY(const Place place, emitter.read(node.inputs[whole]));
        if (place.desc.get_dims() == to)
            format = formatOf(place.desc);
        // What lies behind the last channel must stay zero.
        if (format == Format::Other || (format == Format::Blocked && to[1] % channelBlock() != 0))
            format = Format::Plain;
    }
    for (std::size_t side = 0; side < 2; ++side) {
        const Desc desc = dims.at(side) == to ? *descIn(format, to, types.at(side))
                                              : plainDesc(dims.at(side), types.at(side));
        HALFTONE_TRY(places.at(side), emitter.readAs(node.inputs[side], desc));
    }
    StretchedBinary operation{binary.kind, {dtypeOf(types[0]), dtypeOf(types[1])}, dtypeOf(resultType), {}};
    std::int64_t dense = 1;
    for (const std::int64_t dim : to)
        dense *= dim;
    for (const MemoryAxis &axis : memoryAxes(format, to)) {
        dense /= std::max<std::int64_t>(axis.count, 1);
        StretchedAxis stretched{axis.count, {dense, dense}};
        for (std::size_t side = 0; side < 2; ++side)
            if (dims.at(side) != to)
                stretched.steps.at(side) = dims.at(side)[axis.dim] == 1
                    ? 0
                    : places.at(side).desc.get_strides()[axis.dim] * axis.block;
        operation.axes.push_back(stretched);
    }
    const Desc target = *descIn(format, to, resultType);
    const Place result = dims[0] == to && types[0] == resultType
        ? emitter.writeOver(node.outputs[0], target, node.inputs[0], places[0])
        : emitter.write(node.outputs[0], target);
    emitter.addKernel(stretchedBinaryKernel(std::move(operation)), {places[0].buffer, places[1].buffer},
                      {result.buffer});
    return {};
}

} // namespace

Result<void> lowerElementFunction(Emitter &emitter, const plan::PlanNode &node, const Eltwise &eltwise)
{
    HALFTONE_TRY(const Type type, floatType(emitter, node.inputs[0]));
    if (emitter.desc(node.outputs[0]).dtype != emitter.desc(node.inputs[0]).dtype)
        return unsupported("plan", "a function into another type");
    HALFTONE_TRY(const Place source, emitter.read(node.inputs[0]));
    const dnnl::eltwise_forward::primitive_desc descriptor(
        cpu(), prop_kind::forward_inference, eltwise.algorithm, source.desc, withType(source.desc, type),
        eltwise.alpha, eltwise.beta, userScratchpad(), true);
    if (!descriptor)
        return unsupported("plan", "oneDNN has no kernel for " + node.opName);
    HALFTONE_TRY(const dnnl::eltwise_forward primitive,
                 attempt(node.members[0], [&] { return dnnl::eltwise_forward(descriptor); }));
    const Place result = emitter.writeOver(node.outputs[0], descriptor.dst_desc(), node.inputs[0], source);
    emitter.add(primitive, descriptor.impl_info_str(), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result}},
                descriptor.scratchpad_desc());
    return {};
}

Result<void> lowerBinary(Emitter &emitter, const plan::PlanNode &node, const ops::Binary &binary)
{
    const auto kind = algorithmOf(binary.kind);
    if (!kind)
        return unsupported("plan", "oneDNN lacks " + node.opName);
    HALFTONE_TRY(const Type firstType, floatType(emitter, node.inputs[0]));
    HALFTONE_TRY(const Type secondType, floatType(emitter, node.inputs[1]));
    HALFTONE_TRY(const Type resultType, floatType(emitter, node.outputs[0]));
    const Dims to = dimsOf(emitter.desc(node.outputs[0]).shape);
    const Dims firstDims = frontStretched(emitter.desc(node.inputs[0]).shape, to.size());
    const Dims secondDims = frontStretched(emitter.desc(node.inputs[1]).shape, to.size());
    // oneDNN stretches the second tensor only.
    if (firstDims != to) {
        const bool commutes = *kind == dnnl::algorithm::binary_add || *kind == dnnl::algorithm::binary_mul
            || *kind == dnnl::algorithm::binary_max || *kind == dnnl::algorithm::binary_min;
        if (!commutes || secondDims != to)
            return node.post.empty() ? lowerStretched(emitter, node, binary)
                                     : unsupported("plan", "oneDNN stretches only one of two tensors");
        plan::PlanNode swapped = node;
        std::swap(swapped.inputs[0], swapped.inputs[1]);
        return lowerBinary(emitter, swapped, binary);
    }
    HALFTONE_TRY(Place first, emitter.read(node.inputs[0]));
    if (formatOf(first.desc) == Format::Other || first.desc.get_dims() != to) {
        HALFTONE_TRY(first, emitter.readAs(node.inputs[0], plainDesc(to, firstType)));
    }
    Desc wanted = withType(first.desc, secondType);
    if (secondDims != to)
        wanted = plainDesc(secondDims, secondType);
    const Desc target = withType(first.desc, resultType);
    HALFTONE_TRY(const PostOps post, makePostOps(emitter, node, target));
    dnnl::binary::primitive_desc descriptor(cpu(), *kind, first.desc, wanted, target, post.attributes, true);
    if (!descriptor || isReference(descriptor.impl_info_str()))
        return node.post.empty()
            ? lowerStretched(emitter, node, binary)
            : unsupported("plan", "oneDNN has no kernel for " + node.opName + " of these shapes");
    HALFTONE_TRY(const Place second, emitter.readAs(node.inputs[1], wanted));
    const Place result = emitter.write(node.outputs[0], target);
    Program::Arguments arguments{{DNNL_ARG_SRC_0, first}, {DNNL_ARG_SRC_1, second}};
    arguments.insert(arguments.end(), post.arguments.begin(), post.arguments.end());
    arguments.emplace_back(DNNL_ARG_DST, result);
    HALFTONE_TRY(const dnnl::binary primitive,
                 attempt(node.members[0], [&] { return dnnl::binary(descriptor); }));
    emitter.add(primitive, descriptor.impl_info_str(), std::move(arguments), descriptor.scratchpad_desc());
    return {};
}

Result<void> lowerJoin(Emitter &emitter, const plan::PlanNode &node, const ops::Join &join)
{
    if (join.kind != ops::Join::Kind::Sum)
        return unsupported("plan", "oneDNN lacks " + node.opName + " of many tensors");
    // Of more, oneDNN has its reference kernel only, which needs long to be made and has no arguments for thousands.
    constexpr std::size_t kMostSummands = 16;
    if (node.inputs.size() > kMostSummands)
        return unsupported("plan", "a sum of more than " + std::to_string(kMostSummands) + " tensors");
    for (const plan::ValueId input : node.inputs)
        if (emitter.desc(input).shape != emitter.desc(node.outputs[0]).shape)
            return unsupported("plan", "a sum of many tensors that stretch");
    HALFTONE_TRY(const Type resultType, floatType(emitter, node.outputs[0]));
    HALFTONE_TRY(const Place first, emitter.read(node.inputs[0]));
    if (formatOf(first.desc) == Format::Other)
        return unsupported("plan", "a sum of tensors in an unusual layout");
    std::vector<Desc> descs;
    Program::Arguments arguments;
    for (const plan::ValueId input : node.inputs) {
        HALFTONE_TRY(const Type type, floatType(emitter, input));
        HALFTONE_TRY(const Place place, emitter.readAs(input, withType(first.desc, type)));
        arguments.emplace_back(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(descs.size()), place);
        descs.push_back(place.desc);
    }
    HALFTONE_TRY(const dnnl::sum::primitive_desc descriptor, attempt(node.members[0], [&] {
                     return dnnl::sum::primitive_desc(cpu(), withType(first.desc, resultType),
                                                      std::vector<float>(descs.size(), 1.0F), descs,
                                                      userScratchpad());
                 }));
    arguments.emplace_back(DNNL_ARG_DST, emitter.write(node.outputs[0], descriptor.dst_desc()));
    HALFTONE_TRY(const dnnl::sum primitive, attempt(node.members[0], [&] { return dnnl::sum(descriptor); }));
    emitter.add(primitive, descriptor.impl_info_str(), std::move(arguments), descriptor.scratchpad_desc());
    return {};
}

Result<void> lowerCast(Emitter &emitter, const plan::PlanNode &node, const ops::Cast &)
{
    HALFTONE_TRY(const Type from, floatType(emitter, node.inputs[0]));
    HALFTONE_TRY(const Type to, floatType(emitter, node.outputs[0]));
    (void)from;
    if (to == Type::bf16 && emitter.deferCast(node.outputs[0], node.inputs[0]))
        return {};
    HALFTONE_TRY(const Place source, emitter.read(node.inputs[0]));
    const Place result = emitter.write(node.outputs[0], withType(source.desc, to));
    return emitter.reorder(source, result, kernels::StepKind::Cast);
}

} // namespace halftone::backends::onednn
