#include "core/backends/onednn/lower.h"

#include <algorithm>
#include <utility>

namespace halftone::backends::onednn {
namespace {

using dnnl::prop_kind;

Desc anyDesc(const Dims &dims, Type type)
{
    return {dims, type, Tag::any};
}

/// A matrix in the last two axes, rows and columns swapped where asked; all axes before are one.
Desc matrices(const tensor::Shape &shape, Type type, bool transposed)
{
    Dims dims = dimsOf(shape);
    Desc desc = plainDesc(dims, type);
    if (!transposed)
        return desc;
    std::vector<int> axes(dims.size());
    for (std::size_t k = 0; k < axes.size(); ++k)
        axes[k] = static_cast<int>(k);
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    return desc.permute_axes(axes);
}

/// The same with axes of 1 in front.
tensor::Shape withRank(const tensor::Shape &shape, std::size_t rank)
{
    std::vector<std::int64_t> dims(rank, 1);
    std::ranges::copy(shape.dims(), dims.end() - static_cast<std::ptrdiff_t>(shape.rank()));
    return tensor::Shape(std::move(dims));
}

} // namespace

Dims productDims(const tensor::Shape &data, bool flatten)
{
    Dims dims = dimsOf(data);
    if (!flatten && dims.size() > 2) {
        dnnl::memory::dim rows = 1;
        for (std::size_t k = 0; k + 1 < dims.size(); ++k)
            rows *= dims[k];
        dims = {rows, dims.back()};
    }
    if (dims.size() == 1)
        dims.push_back(1);
    return dims;
}

Result<void> lowerFullyConnected(Emitter &emitter, const plan::PlanNode &node,
                                 const ops::FullyConnected &full)
{
    HALFTONE_TRY(const Type type, floatType(emitter, node.inputs[0]));
    HALFTONE_TRY(const Type weightType, floatType(emitter, node.inputs[1]));
    HALFTONE_TRY(const Type resultType, floatType(emitter, node.outputs[0]));
    const Dims stored = dimsOf(emitter.desc(node.inputs[1]).shape);
    const Dims from = productDims(emitter.desc(node.inputs[0]).shape, full.flatten);
    if (from.size() > 5)
        return unsupported("plan", "oneDNN's inner product takes up to 5 dimensions");
    Dims weightDims = from;
    weightDims[0] = stored[0];
    const Dims to{from[0], stored[0]};
    if (from[0] == 0 || to[1] == 0)
        return unsupported("plan", "an empty tensor");
    HALFTONE_TRY(const PostOps post, makePostOps(emitter, node, plainDesc(to, resultType)));
    Desc biasDesc;
    if (node.inputs.size() > 2) {
        HALFTONE_TRY(const Type biasType, floatType(emitter, node.inputs[2]));
        biasDesc = anyDesc({to[1]}, biasType);
    }
    const dnnl::inner_product_forward::primitive_desc descriptor(
        cpu(), prop_kind::forward_inference, anyDesc(from, type), anyDesc(weightDims, weightType), biasDesc,
        plainDesc(to, resultType), post.attributes, true);
    if (!descriptor)
        return unsupported("plan", "oneDNN has no inner product for these types");
    HALFTONE_TRY(const Place source, emitter.readAs(node.inputs[0], descriptor.src_desc()));
    HALFTONE_TRY(const Place weights, emitter.readAs(node.inputs[1], descriptor.weights_desc()));
    Program::Arguments arguments{{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}};
    if (node.inputs.size() > 2) {
        HALFTONE_TRY(const Place bias, emitter.readAs(node.inputs[2], descriptor.bias_desc()));
        arguments.emplace_back(DNNL_ARG_BIAS, bias);
    }
    arguments.insert(arguments.end(), post.arguments.begin(), post.arguments.end());
    // The result may have more axes than the product knows.
    Place result = resultPlace(emitter, node.outputs[0],
                               plainDesc(dimsOf(emitter.desc(node.outputs[0]).shape), resultType), post);
    result.desc = descriptor.dst_desc();
    arguments.emplace_back(DNNL_ARG_DST, result);
    HALFTONE_TRY(const dnnl::inner_product_forward primitive,
                 attempt(node.members[0], [&] { return dnnl::inner_product_forward(descriptor); }));
    emitter.add(primitive, descriptor.impl_info_str(), std::move(arguments), descriptor.scratchpad_desc());
    return {};
}

Result<void> lowerMatMul(Emitter &emitter, const plan::PlanNode &node, const ops::MatMul &product)
{
    HALFTONE_TRY(const Type typeA, floatType(emitter, node.inputs[0]));
    HALFTONE_TRY(const Type typeB, floatType(emitter, node.inputs[1]));
    HALFTONE_TRY(const Type resultType, floatType(emitter, node.outputs[0]));
    tensor::Shape a = emitter.desc(node.inputs[0]).shape;
    tensor::Shape b = emitter.desc(node.inputs[1]).shape;
    const bool isBatched = product.form != ops::MatMul::Form::Dot;
    if (product.form == ops::MatMul::Form::Stretched && a.rank() > 1 && b.rank() > 1) {
        const std::size_t rank = std::max(a.rank(), b.rank());
        a = withRank(a, rank);
        b = withRank(b, rank);
    }
    if (a.rank() != b.rank() || a.rank() < 2 || (!isBatched && a.rank() != 2))
        return unsupported("plan", "a product over axes of tensors that are no matrices");
    if (a.elementCount() == 0 || b.elementCount() == 0) // oneDNN would leave the sums of nothing unwritten
        return unsupported("plan", "a product of nothing");
    const Desc first = matrices(a, typeA, product.transposeA);
    const Desc second = matrices(b, typeB, product.transposeB);
    const Desc result = plainDesc(dimsOf(emitter.desc(node.outputs[0]).shape), resultType);
    HALFTONE_TRY(const PostOps post, makePostOps(emitter, node, result));
    const dnnl::matmul::primitive_desc descriptor(cpu(), first, second, result, post.attributes, true);
    if (!descriptor)
        return unsupported("plan", "oneDNN has no matrix product for these types");
    HALFTONE_TRY(Place source, emitter.readPlain(node.inputs[0]));
    HALFTONE_TRY(Place weights, emitter.readPlain(node.inputs[1]));
    source.desc = first;
    weights.desc = second;
    Program::Arguments arguments{{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}};
    arguments.insert(arguments.end(), post.arguments.begin(), post.arguments.end());
    arguments.emplace_back(DNNL_ARG_DST, resultPlace(emitter, node.outputs[0], result, post));
    HALFTONE_TRY(const dnnl::matmul primitive,
                 attempt(node.members[0], [&] { return dnnl::matmul(descriptor); }));
    emitter.add(primitive, descriptor.impl_info_str(), std::move(arguments), descriptor.scratchpad_desc());
    return {};
}

} // namespace halftone::backends::onednn
