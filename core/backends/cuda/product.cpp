#include "core/backends/cuda/product.h"

#include <algorithm>
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

double bytesOf(const View &view)
{
    double count = 1;
    for (std::size_t axis = 0; axis < view.dims.size(); ++axis)
        count *= view.strides[axis] == 0 ? 1.0 : static_cast<double>(view.dims[axis]);
    return count * static_cast<double>(tensor::sizeOf(view.dtype));
}

} // namespace

std::optional<Fusion> fusionOf(const plan::PlanGraph &graph, const plan::PlanNode &node)
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
        if (!binary || binary->kind != ops::BinaryKind::Add || fusion.residual != plan::kNoValue
            || graph.desc(post.operand) != graph.desc(node.outputs[0]))
            return std::nullopt;
        fusion.residual = post.operand;
    }
    return fusion;
}

Work workOf(const ProductDesc &desc)
{
    const double taps = desc.isConvolution ? static_cast<double>(countOf(std::span(desc.b.dims).subspan(1)))
                                           : static_cast<double>(desc.a.dims.back());
    Work work{2 * taps * static_cast<double>(countOf(desc.c.dims)),
              bytesOf(desc.a) + bytesOf(desc.b) + bytesOf(desc.c)};
    if (desc.residual)
        work.bytes += bytesOf(*desc.residual);
    return work;
}

kernels::PlanStep withWork(kernels::PlanStep step, const ProductDesc &desc)
{
    const Work work = workOf(desc);
    step.flops = work.flops;
    step.bytes = work.bytes;
    step.multiplies = true;
    return step;
}

} // namespace halftone::backends::cuda
