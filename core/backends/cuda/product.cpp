#include "core/backends/cuda/product.h"

#include "core/backends/cuda/attention.h"

#include <cmath>

namespace halftone::backends::cuda {
namespace {

Activation activationOf(const ops::Operator &op)
{
    using Kind = ops::ElementFunction::Kind;
    if (const auto *unary = op.getIf<ops::Unary>(); unary && unary->kind == ops::UnaryKind::GeluTanh)
        return Activation::GeluTanh;
    if (const auto *curve = op.getIf<ops::Curve>())
        return curve->kind == ops::Curve::Kind::Swish && curve->alpha == 1 ? Activation::Swish
                                                                           : Activation::None;
    const auto function = ops::elementFunction(op);
    if (!function)
        return Activation::None;
    if (function->isRelu())
        return Activation::Relu;
    return function->kind == Kind::GeluErf ? Activation::GeluErf
        : function->kind == Kind::Sigmoid  ? Activation::Sigmoid
        : function->kind == Kind::Tanh     ? Activation::Tanh
                                           : Activation::None;
}

/// ReLU that is cut at the top: Clip from 0.
std::optional<double> ceilingOf(const ops::Operator &op)
{
    const auto function = ops::elementFunction(op);
    const bool isCut = function && function->kind == ops::ElementFunction::Kind::Clip && function->alpha == 0
        && function->beta > 0 && std::isfinite(function->beta);
    return isCut ? std::optional(static_cast<double>(function->beta)) : std::nullopt;
}

/// One value for each place along the last axis of `result`.
bool isRowVector(const kernels::TensorDesc &desc, const kernels::TensorDesc &result)
{
    const std::size_t rank = desc.shape.rank();
    return rank >= 1 && rank <= result.shape.rank() && result.shape.rank() >= 2
        && desc.shape[rank - 1] == result.shape[result.shape.rank() - 1]
        && desc.shape.elementCount() == desc.shape[rank - 1] && tensor::isFloat(desc.dtype);
}

double bytesOf(const View &view)
{
    double count = 1;
    for (std::size_t axis = 0; axis < view.dims.size(); ++axis)
        count *= view.strides[axis] == 0 ? 1.0 : static_cast<double>(view.dims[axis]);
    return count * static_cast<double>(tensor::sizeOf(view.dtype));
}

} // namespace

std::optional<Fusion> fusionOf(const plan::PlanGraph &graph, const plan::PlanNode &node, bool takesVectors)
{
    Fusion fusion;
    for (const plan::PostOp &post : node.post) {
        if (fusion.activation != Activation::None)
            return std::nullopt;
        if (post.operand == plan::kNoValue) {
            fusion.ceiling = ceilingOf(post.op);
            fusion.activation = fusion.ceiling ? Activation::Relu : activationOf(post.op);
            if (fusion.activation == Activation::None)
                return std::nullopt;
            continue;
        }
        const auto *binary = post.op.getIf<ops::Binary>();
        if (!binary || binary->kind != ops::BinaryKind::Add)
            return std::nullopt;
        if (takesVectors && fusion.bias == plan::kNoValue
            && isRowVector(graph.desc(post.operand), graph.desc(node.outputs[0]))) {
            fusion.bias = post.operand;
            continue;
        }
        if (fusion.residual != plan::kNoValue || graph.desc(post.operand) != graph.desc(node.outputs[0]))
            return std::nullopt;
        fusion.residual = post.operand;
    }
    return fusion;
}

Work workOf(const ProductDesc &desc)
{
    const double taps = desc.isConvolution ? static_cast<double>(countOf(std::span(desc.b.dims).subspan(1)))
                                           : static_cast<double>(desc.a.dims.back());
    const double share = desc.isConvolution
        ? 1 - static_cast<double>(desc.emptyChannels) / static_cast<double>(desc.a.dims[1])
        : 1;
    Work work{2 * taps * share * static_cast<double>(countOf(desc.c.dims)),
              share * (bytesOf(desc.a) + bytesOf(desc.b)) + bytesOf(desc.c)};
    if (desc.residual)
        work.bytes += bytesOf(*desc.residual);
    return work;
}

Work workOf(const AttentionDesc &desc)
{
    const double scores = static_cast<double>(countOf(std::span(desc.queries.dims).first(3)))
        * static_cast<double>(desc.keys.dims[2]);
    Work work{2 * scores * static_cast<double>(desc.queries.dims[3] + desc.values.dims[3]),
              bytesOf(desc.queries) + bytesOf(desc.keys) + bytesOf(desc.values) + bytesOf(desc.result)};
    if (desc.mask)
        work.bytes += bytesOf(*desc.mask);
    return work;
}

kernels::PlanStep withWork(kernels::PlanStep step, const Work &work)
{
    step.flops = work.flops;
    step.bytes = work.bytes;
    step.multiplies = true;
    return step;
}

} // namespace halftone::backends::cuda
