#include "core/backends/onednn/product_step.h"

#include <algorithm>
#include <numeric>

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

/// Both sides of a product as matrices in the last two axes, of one rank.
struct Sides
{
    tensor::Shape a;
    tensor::Shape b;
};

Result<Sides> sidesOf(const Emitter &emitter, const plan::PlanNode &node, const ops::MatMul &product)
{
    Sides sides{emitter.desc(node.inputs[0]).shape, emitter.desc(node.inputs[1]).shape};
    const bool isBatched = product.form != ops::MatMul::Form::Dot;
    if (product.form == ops::MatMul::Form::Stretched && sides.a.rank() > 1 && sides.b.rank() > 1) {
        const std::size_t rank = std::max(sides.a.rank(), sides.b.rank());
        sides = {withRank(sides.a, rank), withRank(sides.b, rank)};
    }
    if (sides.a.rank() != sides.b.rank() || sides.a.rank() < 2 || (!isBatched && sides.a.rank() != 2))
        return unsupported("plan", "a product over axes of tensors that are no matrices");
    if (sides.a.elementCount() == 0
        || sides.b.elementCount() == 0) // oneDNN would leave the sums of nothing unwritten
        return unsupported("plan", "a product of nothing");
    return sides;
}

/// Where `value` lies, as `shape`, be it with strides: products read their sides so.
Result<Place> readStrided(Emitter &emitter, plan::ValueId value, const tensor::Shape &shape, Type type)
{
    HALFTONE_TRY(Place place, emitter.read(value));
    const tensor::Shape &own = emitter.desc(value).shape;
    const bool isStrided = place.desc.get_data_type() == type && place.desc.get_inner_nblks() == 0
        && place.desc.get_dims() == dimsOf(own) && own.rank() <= shape.rank();
    if (!isStrided) {
        HALFTONE_TRY(place, emitter.readPlain(value));
        place.desc = plainDesc(dimsOf(shape), type);
        return place;
    }
    Dims strides = place.desc.get_strides();
    const auto count = static_cast<dnnl::memory::dim>(own.elementCount().value_or(1));
    strides.insert(strides.begin(), shape.rank() - own.rank(), std::max(count, strides.front()));
    place.desc = Desc(dimsOf(shape), type, strides);
    return place;
}

Desc swapped(const Desc &desc)
{
    std::vector<int> axes(static_cast<std::size_t>(desc.get_ndims()));
    std::iota(axes.begin(), axes.end(), 0);
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    return desc.permute_axes(axes);
}

/// May rows of all matrices of the result be counted as those of one? What is done to it must not tell them apart.
bool countsRowsAsOne(const Emitter &emitter, const plan::PlanNode &node)
{
    const tensor::Shape &result = emitter.desc(node.outputs[0]).shape;
    return std::ranges::all_of(node.post, [&](const plan::PostOp &post) {
        if (post.operand == plan::kNoValue)
            return true;
        const tensor::Shape &shape = emitter.desc(post.operand).shape;
        const auto last = shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
        return shape == result || shape.elementCount() == last;
    });
}

/// `stored`: how the constant weights lie as they are.
template <class Primitive>
Result<void> addWeighted(Emitter &emitter, const plan::PlanNode &node, const PostOps &post,
                         const typename Primitive::primitive_desc &descriptor, const Desc &stored)
{
    HALFTONE_TRY(Place source, emitter.readPlain(node.inputs[0]));
    source.desc = descriptor.src_desc();
    HALFTONE_TRY(const Place weights, emitter.readThrough(node.inputs[1], stored, descriptor.weights_desc()));
    return addProduct<Primitive>(emitter, node, post, descriptor, source, weights);
}

/// data × constant weights: one product of all rows, with the weights packed as it likes best.
Result<void> lowerWeighted(Emitter &emitter, const plan::PlanNode &node, const ops::MatMul &product)
{
    HALFTONE_TRY(const Type type, floatType(emitter, node.inputs[0]));
    HALFTONE_TRY(const Type weightType, floatType(emitter, node.inputs[1]));
    HALFTONE_TRY(const Type resultType, floatType(emitter, node.outputs[0]));
    const Dims data = productDims(emitter.desc(node.inputs[0]).shape, false);
    const tensor::Shape &weightShape = emitter.desc(node.inputs[1]).shape;
    const Desc stored = matrices(weightShape, weightType, product.transposeB);
    const Dims to{data[0], stored.get_dims()[1]};
    HALFTONE_TRY(const PostOps post, makePostOps(emitter, node, plainDesc(to, resultType)));
    const dnnl::matmul::primitive_desc descriptor(cpu(), plainDesc(data, type),
                                                  anyDesc(stored.get_dims(), weightType),
                                                  plainDesc(to, resultType), post.attributes, true);
    if (descriptor && !isUnhurried(descriptor.impl_info_str()))
        return addWeighted<dnnl::matmul>(emitter, node, post, descriptor, stored);
    // Without AVX-512 only the inner product, whose weights lie the other way, packs them and takes any post-operations.
    const Desc swappedStored = matrices(weightShape, weightType, !product.transposeB);
    const dnnl::inner_product_forward::primitive_desc inner(
        cpu(), prop_kind::forward_inference, plainDesc(data, type),
        anyDesc(swappedStored.get_dims(), weightType), plainDesc(to, resultType), post.attributes, true);
    if (inner && !isUnhurried(inner.impl_info_str()))
        return addWeighted<dnnl::inner_product_forward>(emitter, node, post, inner, swappedStored);
    if (!descriptor)
        return unsupported("plan", "oneDNN has no matrix product for these types");
    return addWeighted<dnnl::matmul>(emitter, node, post, descriptor, stored);
}

bool isWeighted(const Emitter &emitter, const plan::PlanNode &node, const ops::MatMul &product)
{
    const tensor::Shape &a = emitter.desc(node.inputs[0]).shape;
    return emitter.graph().isConstant(node.inputs[1]) && emitter.desc(node.inputs[1]).shape.rank() == 2
        && !product.transposeA && a.rank() >= 2
        && (a.rank() == 2 || product.form == ops::MatMul::Form::Stretched) && a.elementCount() != 0
        && emitter.desc(node.inputs[1]).shape.elementCount() != 0 && countsRowsAsOne(emitter, node);
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
    Program::Arguments more;
    if (node.inputs.size() > 2) {
        HALFTONE_TRY(const Place bias, emitter.readAs(node.inputs[2], descriptor.bias_desc()));
        more.emplace_back(DNNL_ARG_BIAS, bias);
    }
    return addProduct<dnnl::inner_product_forward>(emitter, node, post, descriptor, source, weights, more);
}

Result<void> lowerMatMul(Emitter &emitter, const plan::PlanNode &node, const ops::MatMul &product)
{
    if (isWeighted(emitter, node, product))
        return lowerWeighted(emitter, node, product);
    HALFTONE_TRY(const Type typeA, floatType(emitter, node.inputs[0]));
    HALFTONE_TRY(const Type typeB, floatType(emitter, node.inputs[1]));
    HALFTONE_TRY(const Type resultType, floatType(emitter, node.outputs[0]));
    HALFTONE_TRY(const Sides sides, sidesOf(emitter, node, product));
    const Desc plain = plainDesc(dimsOf(emitter.desc(node.outputs[0]).shape), resultType);
    HALFTONE_TRY(PostOps post, makePostOps(emitter, node, plain));
    HALFTONE_TRY(Place source, readStrided(emitter, node.inputs[0], sides.a, typeA));
    HALFTONE_TRY(Place weights, readStrided(emitter, node.inputs[1], sides.b, typeB));
    if (product.transposeA)
        source.desc = swapped(source.desc);
    if (product.transposeB)
        weights.desc = swapped(weights.desc);
    const auto descriptorFor = [&](const Desc &result) {
        return dnnl::matmul::primitive_desc(cpu(), source.desc, weights.desc, result, post.attributes, true);
    };
    Desc result = plain;
    dnnl::matmul::primitive_desc descriptor = descriptorFor(result);
    if (post.sum && (!descriptor || isReference(descriptor.impl_info_str()))) {
        HALFTONE_TRY(post, makePostOps(emitter, node, plain, SumInPlace::Never));
        descriptor = descriptorFor(result);
    }
    // Written as its one reader transposes it, if that costs no more.
    if (const auto wanted
        = node.post.empty() ? emitter.descBeforeTranspose(node.outputs[0], resultType) : std::nullopt)
        if (const auto other = descriptorFor(*wanted);
            other && std::string_view(other.impl_info_str()) == descriptor.impl_info_str()) {
            result = *wanted;
            descriptor = other;
        }
    if (!descriptor)
        return unsupported("plan", "oneDNN has no matrix product for these types");
    return addProduct<dnnl::matmul>(emitter, node, post, descriptor, source, weights);
}

/// One of matrices is a product with a sum behind it. Plans have it so already (plan/simplify_units.cpp).
Result<void> lowerGemm(Emitter &emitter, const plan::PlanNode &node, const ops::Gemm &gemm)
{
    const auto shapeOf
        = [&](std::size_t k) -> const tensor::Shape & { return emitter.desc(node.inputs[k]).shape; };
    if (gemm.alpha != 1 || (gemm.hasAddend && gemm.beta != 1) || !node.post.empty() || shapeOf(0).rank() != 2
        || shapeOf(1).rank() != 2)
        return unsupported("plan", "a product with factors, or of other than two matrices");
    plan::PlanNode product = node;
    product.op = ops::MatMul{ops::MatMul::Form::Batched, gemm.transposeA, gemm.transposeB};
    product.inputs.resize(2);
    if (gemm.hasAddend) {
        const std::int64_t columns = emitter.desc(node.outputs[0]).shape[1];
        const tensor::Shape &addend = shapeOf(2);
        if (addend.rank() == 0 || addend[addend.rank() - 1] != columns || addend.elementCount() != columns)
            return unsupported("plan", "an addend other than a row");
        product.post.push_back({ops::Binary{ops::BinaryKind::Add, true}, node.inputs[2]});
    }
    return lowerMatMul(emitter, product, product.op.as<ops::MatMul>());
}

} // namespace halftone::backends::onednn
