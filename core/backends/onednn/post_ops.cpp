#include "core/backends/onednn/lower.h"
#include "core/tensor/elements.h"

namespace halftone::backends::onednn {
namespace {

using dnnl::algorithm;

/// The dimensions of an operand, with ones in front, as many as the result has. An operand of more axes must have the
/// result's elements one by one; nothing otherwise.
std::optional<Dims> stretchedDims(const tensor::Shape &shape, const Dims &result)
{
    const std::size_t rank = result.size();
    std::size_t first = 0; // axes of 1 before it count for nothing
    while (shape.rank() - first > rank && shape[first] == 1)
        ++first;
    if (shape.rank() - first > rank) {
        std::int64_t count = 1;
        for (const auto dim : result)
            count *= dim;
        return shape.elementCount() == count ? std::optional(result) : std::nullopt;
    }
    Dims dims(rank, 1);
    for (std::size_t k = first; k < shape.rank(); ++k)
        dims[rank + k - shape.rank()] = shape[k];
    return dims;
}

Result<void> appendFunction(dnnl::post_ops &post, tensor::DType data, const ops::Operator &op)
{
    const auto eltwise = eltwiseOf(withScalarIn(data, op));
    if (!eltwise)
        return unsupported("plan", "oneDNN lacks this function");
    post.append_eltwise(eltwise->algorithm, eltwise->alpha, eltwise->beta);
    return {};
}

} // namespace

Eltwise eltwiseOf(const ops::ElementFunction &function)
{
    const float a = function.alpha;
    const float b = function.beta;
    using Kind = ops::ElementFunction::Kind;
    switch (function.kind) {
    case Kind::Relu:
        return Eltwise{algorithm::eltwise_relu, a, 0};
    case Kind::Elu:
        return Eltwise{algorithm::eltwise_elu, a, 0};
    case Kind::Sigmoid:
        return Eltwise{algorithm::eltwise_logistic, 0, 0};
    case Kind::Tanh:
        return Eltwise{algorithm::eltwise_tanh, 0, 0};
    case Kind::Softplus:
        return Eltwise{algorithm::eltwise_soft_relu, 1, 0};
    case Kind::GeluErf:
        return Eltwise{algorithm::eltwise_gelu_erf, 0, 0};
    case Kind::Abs:
        return Eltwise{algorithm::eltwise_abs, 0, 0};
    case Kind::Square:
        return Eltwise{algorithm::eltwise_square, 0, 0};
    case Kind::Sqrt:
        return Eltwise{algorithm::eltwise_sqrt, 0, 0};
    case Kind::Exp:
        return Eltwise{algorithm::eltwise_exp, 0, 0};
    case Kind::Log:
        return Eltwise{algorithm::eltwise_log, 0, 0};
    case Kind::Linear:
        return Eltwise{algorithm::eltwise_linear, a, b};
    case Kind::Clip:
        return Eltwise{algorithm::eltwise_clip, a, b};
    case Kind::Power:
        return Eltwise{algorithm::eltwise_pow, a, b};
    case Kind::HardSigmoid:
        return Eltwise{algorithm::eltwise_hardsigmoid, a, b};
    }
    return {};
}

std::optional<Eltwise> eltwiseOf(const ops::Operator &op)
{
    if (const auto function = ops::elementFunction(op))
        return eltwiseOf(*function);
    if (const auto *curve = op.getIf<ops::Curve>(); curve && curve->kind == ops::Curve::Kind::Swish)
        return Eltwise{algorithm::eltwise_swish, static_cast<float>(curve->alpha), 0};
    const auto *unary = op.getIf<ops::Unary>();
    if (unary == nullptr)
        return std::nullopt;
    switch (unary->kind) {
    case ops::UnaryKind::GeluTanh:
        return Eltwise{algorithm::eltwise_gelu_tanh, 0, 0};
    case ops::UnaryKind::HardSwish:
        return Eltwise{algorithm::eltwise_hardswish, 1.0F / 6, 0.5F};
    case ops::UnaryKind::Mish:
        return Eltwise{algorithm::eltwise_mish, 0, 0};
    default:
        return std::nullopt;
    }
}

ops::Operator withScalarIn(tensor::DType data, const ops::Operator &op)
{
    const auto *const scalar = op.getIf<ops::ScalarBinary>();
    if (scalar == nullptr || (data != tensor::DType::F16 && !tensor::isForAnalysis(data)))
        return op;
    ops::ScalarBinary held = *scalar;
    held.scalar = tensor::heldIn(data, scalar->scalar);
    return held;
}

std::optional<algorithm> algorithmOf(ops::BinaryKind kind)
{
    using ops::BinaryKind;
    switch (kind) {
    case BinaryKind::Add:
        return algorithm::binary_add;
    case BinaryKind::Sub:
        return algorithm::binary_sub;
    case BinaryKind::Mul:
        return algorithm::binary_mul;
    case BinaryKind::Div:
        return algorithm::binary_div;
    case BinaryKind::Maximum:
        return algorithm::binary_max;
    case BinaryKind::Minimum:
        return algorithm::binary_min;
    default:
        return std::nullopt;
    }
}

Result<PostOps> makePostOps(Emitter &emitter, const plan::PlanNode &node, const Desc &result, SumInPlace sum,
                            std::span<const LeadingPost> first)
{
    PostOps made;
    made.attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    dnnl::post_ops chain;
    const auto appendBinary = [&](algorithm kind, const Place &place) {
        chain.append_binary(kind, place.desc);
        made.arguments.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(chain.len() - 1) | DNNL_ARG_SRC_1, place);
    };
    for (const LeadingPost &post : first)
        appendBinary(post.algorithm, post.operand);
    for (const plan::PostOp &post : node.post) {
        const auto *binary = post.op.getIf<ops::Binary>();
        if (binary == nullptr) {
            HALFTONE_CHECK(appendFunction(chain, emitter.desc(node.outputs[0]).dtype, post.op));
            continue;
        }
        const auto kind = algorithmOf(binary->kind);
        const kernels::TensorDesc &operand = emitter.desc(post.operand);
        const auto type = dnnlType(operand.dtype);
        const auto stretched = stretchedDims(operand.shape, result.get_dims());
        if (!stretched)
            return unsupported("plan", "an operand of more axes than the result");
        const Dims &dims = *stretched;
        const bool isSameShape = dims == result.get_dims();
        const auto layout = isSameShape ? descIn(formatOf(result), dims, type.value_or(Type::undef))
                                        : plainDesc(dims, type.value_or(Type::undef));
        if (!kind || !type || !layout)
            return unsupported("plan", "oneDNN lacks this operation on two tensors");
        HALFTONE_TRY(const Place place, emitter.readAs(post.operand, *layout));
        if (sum == SumInPlace::Allowed && !made.sum && *kind == algorithm::binary_add && place.desc == result
            && emitter.mayOverwrite(post.operand, place)) {
            chain.append_sum(1.0F, 0, *type);
            made.sum = place;
            continue;
        }
        appendBinary(*kind, place);
    }
    made.attributes.set_post_ops(chain);
    return made;
}

Place resultPlace(Emitter &emitter, plan::ValueId value, const Desc &desc, const PostOps &post)
{
    if (!post.sum)
        return emitter.write(value, desc);
    Place place{desc, post.sum->buffer};
    emitter.replace(value, place);
    return place;
}

Result<Type> floatType(const Emitter &emitter, plan::ValueId value)
{
    const auto type = dnnlType(emitter.desc(value).dtype);
    if (type != Type::f32 && type != Type::bf16 && type != Type::f16)
        return unsupported("plan",
                           "oneDNN computes in float32 and 16 bit that the processor has, not "
                               + std::string(tensor::nameOf(emitter.desc(value).dtype)));
    return *type;
}

} // namespace halftone::backends::onednn
