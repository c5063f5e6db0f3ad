#include "core/runtime/onednn/int8_scales.h"

#include <algorithm>
#include <cstring>

namespace halftone::runtime::onednn {
namespace {

std::optional<double> constantAt(const Emitter &emitter, ValueId value)
{
    const PlanValue &known = emitter.graph().values[value];
    if (!known.constant || known.desc.dtype != tensor::DType::F32
        || known.constant->bytes().size() < sizeof(float))
        return std::nullopt;
    float number = 0;
    std::memcpy(&number, known.constant->bytes().data(), sizeof number);
    return double{number};
}

} // namespace

Result<double> codeScale(const Emitter &emitter, ValueId codes, ValueId low, ValueId high)
{
    const auto a = constantAt(emitter, low);
    const auto b = constantAt(emitter, high);
    if (!a || !b)
        return unsupported("plan", "a range that is only known at run time");
    if (emitter.desc(codes).dtype == tensor::DType::U8 && *a < 0)
        return unsupported("plan", "codes of uint8 that count from below zero");
    return scaleOfRange(emitter.desc(codes).dtype, *a, *b);
}

Result<double> resultScale(const Emitter &emitter, const PlanNode &node)
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

} // namespace halftone::runtime::onednn
