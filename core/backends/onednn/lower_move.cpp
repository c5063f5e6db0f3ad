#include "core/backends/onednn/int8_scales.h"

#include <algorithm>

namespace halftone::backends::onednn {
namespace {

/// A concatenation of which nothing is in place yet, in the layout that the first part has.
Result<void> concatAnew(Emitter &emitter, const plan::PlanNode &node, int axis, Type type)
{
    constexpr std::size_t kMostParts = DNNL_ARG_ATTR_SCALES
        - DNNL_ARG_MULTIPLE_SRC; // beyond, the numbers of arguments mean something else
    if (node.inputs.size() > kMostParts)
        return unsupported("plan", "a concatenation of more parts than oneDNN can tell apart");
    HALFTONE_TRY(const Place first, emitter.read(node.inputs[0]));
    const Dims to = dimsOf(emitter.desc(node.outputs[0]).shape);
    Format format = formatOf(first.desc);
    if (format == Format::Blocked && axis == 1)
        for (const plan::ValueId input : node.inputs)
            if (emitter.desc(input).shape[1] % channelBlock() != 0)
                format = Format::Plain;
    if (format == Format::Other)
        format = Format::Plain;
    const auto target = descIn(format, to, type);
    std::vector<Desc> descs;
    Program::Arguments arguments;
    for (const plan::ValueId input : node.inputs) {
        const auto wanted = descIn(format, dimsOf(emitter.desc(input).shape), type);
        if (!wanted || !target)
            return unsupported("plan", "a concatenation in an unusual layout");
        HALFTONE_TRY(const Place place, emitter.readAs(input, *wanted));
        arguments.emplace_back(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(descs.size()), place);
        descs.push_back(place.desc);
    }
    dnnl::primitive_attr attributes = userScratchpad();
    const auto descriptor = attempt(node.members[0], [&] {
        return dnnl::concat::primitive_desc(cpu(), *target, axis, descs, attributes);
    });
    if (!descriptor.ok())
        return descriptor.error();
    HALFTONE_TRY(const dnnl::concat primitive,
                 attempt(node.members[0], [&] { return dnnl::concat(descriptor.value()); }));
    arguments.emplace_back(DNNL_ARG_DST, emitter.write(node.outputs[0], *target));
    emitter.add(primitive, descriptor.value().impl_info_str(), std::move(arguments),
                descriptor.value().scratchpad_desc());
    return {};
}

/// Do elements lie in the same order? Where an axis has one place, its stride says nothing.
bool isSameOrder(const Desc &a, const Desc &b)
{
    const Dims dims = a.get_dims();
    const Dims first = a.get_strides();
    const Dims second = b.get_strides();
    for (std::size_t axis = 0; axis < dims.size(); ++axis)
        if (dims[axis] != 1 && first[axis] != second[axis])
            return false;
    return dims == b.get_dims();
}

} // namespace

Result<void> lowerConcat(Emitter &emitter, const plan::PlanNode &node, const ops::Concat &concat)
{
    const auto held = dnnlType(emitter.desc(node.outputs[0]).dtype);
    const bool areCodes = held == Type::s8 || held == Type::u8;
    HALFTONE_TRY(const Type type, areCodes ? Result<Type>(*held) : floatType(emitter, node.outputs[0]));
    for (const plan::ValueId input : node.inputs)
        if (emitter.desc(input).dtype != emitter.desc(node.outputs[0]).dtype)
            return unsupported("plan", "a concatenation of several types");
    const plan::ValueId whole = node.outputs[0];
    const Dims to = dimsOf(emitter.desc(whole).shape);
    const auto axis = concat.axis < 0 ? concat.axis + static_cast<std::int64_t>(to.size()) : concat.axis;
    if (areCodes && axis == 1 && to.size() >= 2 && to.size() <= 5)
        return joinCodes(emitter, node, node.inputs.size(), emitter.write(whole, codeLayout(to, type)));
    const bool isBegun = std::ranges::any_of(
        node.inputs, [&](plan::ValueId input) { return emitter.isInPlace(input, whole); });
    if (!isBegun)
        return concatAnew(emitter, node, static_cast<int>(axis), type);
    // The parts that could not be written here are copied; what is here stays.
    const auto outermost = emitter.begunConcat(whole);
    const Format format = formatOf(outermost->desc);
    const Place result = emitter.write(whole, *descIn(format, to, type));
    Dims offset(to.size(), 0);
    for (const plan::ValueId input : node.inputs) {
        const Dims dims = dimsOf(emitter.desc(input).shape);
        if (!emitter.isInPlace(input, whole)) {
            HALFTONE_TRY(const Place part, emitter.read(input));
            const auto target
                = attempt(node.members[0], [&] { return result.desc.submemory_desc(dims, offset); });
            if (!target.ok())
                return target.error();
            HALFTONE_CHECK(
                emitter.reorder(part, {target.value(), result.buffer}, kernels::StepKind::Compute));
        }
        offset[1] += dims[1];
    }
    return {};
}

Result<void> lowerView(Emitter &emitter, const plan::PlanNode &node)
{
    const kernels::TensorDesc &result = emitter.desc(node.outputs[0]);
    HALFTONE_TRY(Place place, emitter.readPlain(node.inputs[0]));
    const auto type = dnnlType(result.dtype);
    if (type)
        place.desc = plainDesc(dimsOf(result.shape), *type);
    emitter.alias(node.outputs[0], place);
    return {};
}

Result<void> lowerTranspose(Emitter &emitter, const plan::PlanNode &node, const Dims &axes)
{
    const auto type = dnnlType(emitter.desc(node.inputs[0]).dtype);
    if (!type)
        return unsupported("plan", "oneDNN moves no such type");
    const Dims dims = dimsOf(emitter.desc(node.inputs[0]).shape);
    // permute_axes wants for each axis where it goes.
    std::vector<int> target(dims.size());
    for (std::size_t k = 0; k < axes.size(); ++k)
        target[static_cast<std::size_t>(axes[k])] = static_cast<int>(k);
    HALFTONE_TRY(Place source, emitter.read(node.inputs[0]));
    if (source.desc.get_inner_nblks() != 0 || source.desc.get_dims() != dims
        || source.desc.get_data_type() != *type) {
        HALFTONE_TRY(source, emitter.readPlain(node.inputs[0]));
    }
    source.desc = source.desc.permute_axes(target);
    const Desc plain = plainDesc(dimsOf(emitter.desc(node.outputs[0]).shape), *type);
    const bool isFree = isSameOrder(source.desc, plain) && !emitter.isPartOfConcat(node.outputs[0]);
    if (isFree || emitter.feedsProductsOnly(node.outputs[0])) {
        emitter.alias(node.outputs[0], {isFree ? plain : source.desc, source.buffer});
        return {};
    }
    return emitter.reorder(source, emitter.write(node.outputs[0], plain), kernels::StepKind::Compute);
}

} // namespace halftone::backends::onednn
