#include "core/backends/onednn/code_window.h"
#include "core/backends/onednn/int8_products.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

namespace halftone::backends::onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;

constexpr double kExact = 1 << 24; ///< up to there float32 holds every whole number
constexpr std::int64_t kMostParts = 4;

/// Weights by output and input channel, each with so many codes.
struct Channels
{
    std::int64_t outputs = 0;
    std::int64_t inputs = 0; ///< of a group
    std::int64_t each = 1;
};

Channels channelsOf(const tensor::Tensor &codes)
{
    const tensor::Shape &shape = codes.shape();
    Channels channels{shape[0], shape.rank() > 1 ? shape[1] : 1, 1};
    for (std::size_t k = 2; k < shape.rank(); ++k)
        channels.each *= shape[k];
    return channels;
}

/// The input channels of that part.
std::pair<std::int64_t, std::int64_t> rangeOf(const Channels &channels, std::int64_t part, std::int64_t parts)
{
    return {channels.inputs * part / parts, channels.inputs * (part + 1) / parts};
}

/// The largest sum of a part whose data are codes up to `most`.
double largestSum(const tensor::Tensor &codes, std::int64_t parts, double most)
{
    const Channels channels = channelsOf(codes);
    const auto values = codes.values<std::int8_t>();
    double largest = 0;
    for (std::int64_t output = 0; output < channels.outputs; ++output)
        for (std::int64_t part = 0; part < parts; ++part) {
            const auto [first, last] = rangeOf(channels, part, parts);
            std::int64_t sum = 0;
            const auto begin = (output * channels.inputs + first) * channels.each;
            const auto end = (output * channels.inputs + last) * channels.each;
            for (std::int64_t k = begin; k < end; ++k)
                sum += std::abs(int{values[static_cast<std::size_t>(k)]});
            largest = std::max(largest, static_cast<double>(sum) * most);
        }
    return largest;
}

/// In how many parts each sum is exact.
Result<std::int64_t> partsOf(const Int8Product &product, tensor::DType data, bool isSum)
{
    const double most = data == tensor::DType::U8 ? 255 : 128;
    double bias = 0;
    for (const float value : product.bias)
        bias = std::max(bias, std::abs(double{value}));
    for (std::int64_t parts = 1; parts <= (isSum ? 1 : kMostParts); ++parts)
        if (largestSum(product.codes, parts, most) + (isSum ? bias : 0) <= kExact)
            return parts;
    return unsupported("plan", "sums of codes beyond what float32 holds exactly");
}

/// The codes of a part, the others 0.
Result<Place> weightsOf(Emitter &emitter, const tensor::Tensor &codes, const Desc &desc, std::int64_t part,
                        std::int64_t parts)
{
    const Desc plain = plainDesc(desc.get_dims(), Type::s8);
    if (parts == 1)
        return emitter.constant(codes, plain, desc);
    const std::string form
        = "part " + std::to_string(part) + " of " + std::to_string(parts) + packingName(plain, desc);
    return emitter.constant(codes, form, desc, [&]() -> Result<std::shared_ptr<const Packed>> {
        const Channels channels = channelsOf(codes);
        const auto [first, last] = rangeOf(channels, part, parts);
        std::vector<std::byte> bytes(codes.bytes().size());
        for (std::int64_t output = 0; output < channels.outputs; ++output) {
            const auto begin = (output * channels.inputs + first) * channels.each;
            std::copy_n(codes.bytes().begin() + begin, (last - first) * channels.each, bytes.begin() + begin);
        }
        return pack(tensor::Tensor::owning(tensor::DType::I8, codes.shape(), std::move(bytes)), plain, desc,
                    allocateTogether);
    });
}

/// One value for each output channel, or one for all.
Result<void> appendByChannel(Emitter &emitter, algorithm kind, const std::vector<float> &values,
                             const Dims &result, ProductForm &form, Program::Arguments &arguments)
{
    Dims dims(result.size(), 1);
    dims[1] = values.size() == 1 ? 1 : result[1];
    HALFTONE_TRY(Place place, floats(emitter, values));
    place.desc = plainDesc(dims, Type::f32);
    arguments.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(form.first.len()) | DNNL_ARG_SRC_1, place);
    form.first.append_binary(kind, place.desc);
    return {};
}

/// Factors and bias, which come between the sums and what follows them.
Result<void> appendScales(Emitter &emitter, const Int8Product &product, double unit, const Dims &result,
                          ProductForm &form, Program::Arguments &arguments)
{
    std::vector<float> factors = product.weightSteps;
    for (float &value : factors)
        value = static_cast<float>(double{value} / product.dataScale / unit);
    std::vector<float> bias = product.bias;
    for (float &value : bias)
        value = static_cast<float>(value / unit);
    if (!factors.empty())
        HALFTONE_CHECK(appendByChannel(emitter, algorithm::binary_mul, factors, result, form, arguments));
    if (!bias.empty())
        HALFTONE_CHECK(appendByChannel(emitter, algorithm::binary_add, bias, result, form, arguments));
    return {};
}

/// What 1 stands for before the post-operations: the addend is added as it lies.
Result<double> unitOf(const Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op)
{
    if (!op.hasSum)
        return 1.0;
    HALFTONE_TRY(const double scale,
                 codeScale(emitter, node.inputs[op.addend()], node.inputs[op.addendEnds()],
                           node.inputs[op.addendEnds() + 1]));
    return 1 / scale;
}

/// describe  (result, attributes) -> primitive descriptor
template <typename Primitive, typename Describe>
Result<void> addParts(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op,
                      const Int8Product &product, const Desc &anyResult, const Describe &describe)
{
    const plan::ValueId output = node.outputs[0];
    const auto resultType = dnnlType(emitter.desc(output).dtype);
    if (!resultType)
        return unsupported("plan", "a type that oneDNN lacks");
    HALFTONE_TRY(const std::int64_t parts,
                 partsOf(product, emitter.desc(node.inputs[0]).dtype,
                         emitter.desc(output).dtype == tensor::DType::I32));
    const auto bare = describe(anyResult, userScratchpad());
    if (!bare)
        return unsupported("plan", "oneDNN has no product for these shapes");
    const Desc sums = bare.dst_desc();

    ProductForm form{.first = {}, .isReal = true};
    Program::Arguments scales;
    if (parts > 1)
        form.first.append_sum(1);
    dnnl::primitive_attr middle = userScratchpad();
    middle.set_post_ops(form.first);
    HALFTONE_TRY(const double unit, unitOf(emitter, node, op));
    HALFTONE_CHECK(appendScales(emitter, product, unit, sums.get_dims(), form, scales));
    HALFTONE_TRY(const Int8Attributes last, int8AttributesOf(emitter, node, op, sums, product.sumStep, form));

    std::vector<std::decay_t<decltype(bare)>> descriptors;
    for (std::int64_t part = 0; part < parts; ++part) {
        const bool isLast = part + 1 == parts;
        descriptors.push_back(isLast          ? describe(sums, last.attributes)
                                  : part == 0 ? bare
                                              : describe(sums, middle));
        if (!descriptors.back())
            return unsupported("plan", "oneDNN has no product with what follows it");
    }
    const Place result = op.realOutput ? emitter.write(output, sums) : emitter.temporary(sums);
    for (std::int64_t part = 0; part < parts; ++part) {
        const auto &descriptor = descriptors[static_cast<std::size_t>(part)];
        HALFTONE_TRY(const Place source, emitter.readAs(node.inputs[0], descriptor.src_desc()));
        HALFTONE_TRY(const Place weights,
                     weightsOf(emitter, product.codes, descriptor.weights_desc(), part, parts));
        Program::Arguments arguments{
            {DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, result}};
        if (part + 1 == parts) {
            arguments.insert(arguments.end(), scales.begin(), scales.end());
            arguments.insert(arguments.end(), last.arguments.begin(), last.arguments.end());
        }
        HALFTONE_TRY(const Primitive primitive,
                     attempt(node.members[0], [&] { return Primitive(descriptor); }));
        emitter.add(primitive, descriptor.impl_info_str(), std::move(arguments),
                    descriptor.scratchpad_desc());
    }
    if (op.realOutput)
        return {};
    const double factor = product.hasResultScale ? product.resultScale * last.resultUnit : 1;
    const Dims given = dimsOf(emitter.desc(output).shape);
    Place codes = emitter.write(output, codeLayout(given, *resultType));
    if (codes.desc.get_dims() != sums.get_dims())
        codes.desc = plainDesc(sums.get_dims(), *resultType);
    return rescale(emitter, node, result, codes, factor);
}

} // namespace

Result<void> lowerCodesAsReals(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op,
                               const Int8Product &product)
{
    if (op.conv) {
        HALFTONE_TRY(const WindowShape shape, windowShape(emitter, node, *op.conv));
        const Desc source(shape.from, Type::f32, Tag::any);
        const Desc weights(shape.weights, Type::f32, Tag::any);
        return addParts<dnnl::convolution_forward>(
            emitter, node, op, product, Desc(shape.to, Type::f32, Tag::any),
            [&](const Desc &result, const dnnl::primitive_attr &attributes) {
                return dnnl::convolution_forward::primitive_desc(
                    cpu(), prop_kind::forward_inference, algorithm::convolution_direct, source, weights,
                    Desc(), result, shape.stride, shape.dilate, shape.padBegin, shape.padEnd, attributes,
                    true);
            });
    }
    const Dims from = productDims(emitter.desc(node.inputs[0]).shape, op.full.flatten);
    Dims weights = from;
    weights[0] = emitter.desc(node.inputs[1]).shape[0];
    return addParts<dnnl::inner_product_forward>(
        emitter, node, op, product, plainDesc({from[0], weights[0]}, Type::f32),
        [&](const Desc &result, const dnnl::primitive_attr &attributes) {
            return dnnl::inner_product_forward::primitive_desc(
                cpu(), prop_kind::forward_inference, Desc(from, Type::f32, Tag::any),
                Desc(weights, Type::f32, Tag::any), Desc(), result, attributes, true);
        });
}

} // namespace halftone::backends::onednn
