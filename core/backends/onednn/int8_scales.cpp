#include "core/backends/onednn/int8_scales.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace halftone::backends::onednn {
namespace {

std::optional<double> constantAt(const Emitter &emitter, plan::ValueId value)
{
    const plan::PlanValue &known = emitter.graph().values[value];
    if (!known.constant || known.desc.dtype != tensor::DType::F32
        || known.constant->bytes().size() < sizeof(float))
        return std::nullopt;
    float number = 0;
    std::memcpy(&number, known.constant->bytes().data(), sizeof number);
    return double{number};
}

} // namespace

bool addsExactly()
{
    const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
    return includes(isa, dnnl::cpu_isa::avx512_core_vnni) || includes(isa, dnnl::cpu_isa::avx2_vnni);
}

Result<Int8Ends> codeEnds(const Emitter &emitter, plan::ValueId codes, plan::ValueId low, plan::ValueId high)
{
    const auto a = constantAt(emitter, low);
    const auto b = constantAt(emitter, high);
    if (!a || !b)
        return unsupported("plan", "a range that is only known at run time");
    if (emitter.desc(codes).dtype == tensor::DType::U8 && *a < 0)
        return unsupported("plan", "codes of uint8 that count from below zero");
    return Int8Ends{*a, *b};
}

Result<double> codeScale(const Emitter &emitter, plan::ValueId codes, plan::ValueId low, plan::ValueId high)
{
    HALFTONE_TRY(const Int8Ends ends, codeEnds(emitter, codes, low, high));
    return ops::scaleOfRange(emitter.desc(codes).dtype, ends.low, ends.high);
}

Result<double> resultScale(const Emitter &emitter, const plan::PlanNode &node)
{
    if (node.outputs.size() != 3)
        return unsupported("plan", "a result without a range");
    return codeScale(emitter, node.outputs[0], node.outputs[1], node.outputs[2]);
}

Result<Place> floats(Emitter &emitter, const std::vector<float> &values)
{
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    const auto count = static_cast<std::int64_t>(values.size());
    const Desc desc = plainDesc({count}, Type::f32);
    return emitter.constant(tensor::Tensor::owning(tensor::DType::F32,
                                                   tensor::Shape(std::vector<std::int64_t>{count}),
                                                   std::move(bytes)),
                            desc, desc);
}

Result<Place> wholes(Emitter &emitter, std::int32_t value)
{
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    const Desc desc = plainDesc({1}, Type::s32);
    return emitter.constant(tensor::Tensor::owning(tensor::DType::I32,
                                                   tensor::Shape(std::vector<std::int64_t>{1}),
                                                   std::move(bytes)),
                            desc, desc);
}

Result<void> rescale(Emitter &emitter, const plan::PlanNode &node, const Place &from, const Place &to,
                     double factor, std::int32_t zero)
{
    dnnl::primitive_attr attributes = userScratchpad();
    attributes.set_scales_mask(DNNL_ARG_SRC, 0);
    Program::Arguments arguments{{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    if (zero != 0) {
        attributes.set_zero_points_mask(DNNL_ARG_FROM, 0);
        HALFTONE_TRY(const Place place, wholes(emitter, zero));
        arguments.emplace_back(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_FROM, place);
    }
    const dnnl::reorder::primitive_desc descriptor(cpu(), from.desc, cpu(), to.desc, attributes, true);
    if (!descriptor)
        return unsupported("plan", "oneDNN has no reorder with a scale for this");
    HALFTONE_TRY(const Place scale, floats(emitter, {static_cast<float>(factor)}));
    arguments.emplace_back(DNNL_ARG_ATTR_SCALES | DNNL_ARG_FROM, scale);
    HALFTONE_TRY(const dnnl::reorder primitive,
                 attempt(node.members[0], [&] { return dnnl::reorder(descriptor); }));
    emitter.add(primitive, descriptor.impl_info_str(), std::move(arguments), descriptor.scratchpad_desc());
    return {};
}

Result<void> addCodes(Emitter &emitter, const plan::PlanNode &node, const std::array<Addend, 2> &addends,
                      const Desc &result, dnnl::primitive_attr attributes)
{
    Program::Arguments arguments;
    for (const auto &[argument, addend] :
         {std::pair(DNNL_ARG_SRC_0, addends[0]), std::pair(DNNL_ARG_SRC_1, addends[1])}) {
        HALFTONE_TRY(const Place scale, floats(emitter, {static_cast<float>(addend.step)}));
        attributes.set_scales_mask(argument, 0);
        arguments.emplace_back(argument, addend.codes);
        arguments.emplace_back(DNNL_ARG_ATTR_SCALES | argument, scale);
    }
    const dnnl::binary::primitive_desc descriptor(cpu(), dnnl::algorithm::binary_add, addends[0].codes.desc,
                                                  addends[1].codes.desc, result, attributes, true);
    if (!descriptor)
        return unsupported("plan", "oneDNN has no sum of codes for this");
    HALFTONE_TRY(const dnnl::binary primitive,
                 attempt(node.members[0], [&] { return dnnl::binary(descriptor); }));
    arguments.emplace_back(DNNL_ARG_DST, emitter.write(node.outputs[0], result));
    emitter.add(primitive, descriptor.impl_info_str(), std::move(arguments), descriptor.scratchpad_desc());
    return {};
}

Desc codeLayout(const Dims &dims, Type type)
{
    const auto last = descIn(Format::ChannelsLast, dims, type);
    return last ? *last : plainDesc(dims, type);
}

Place normalised(Place place)
{
    const Dims dims = place.desc.get_dims();
    const bool isPixel = dims.size() > 2
        && std::all_of(dims.begin() + 2, dims.end(), [](dnnl::memory::dim dim) { return dim == 1; });
    if (isPixel && formatOf(place.desc) == Format::ChannelsLast)
        place.desc = plainDesc(dims, place.desc.get_data_type());
    return place;
}

} // namespace halftone::backends::onednn
