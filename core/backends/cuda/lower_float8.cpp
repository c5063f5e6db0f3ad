#include "core/backends/cuda/lower_float8.h"

#include "core/backends/cuda/lower.h"
#include "core/plan/coded_values.h"
#include "core/tensor/convert.h"
#include "core/tensor/elements.h"

#include <cmath>

namespace halftone::backends::cuda {
namespace {

using plan::PlanGraph;
using plan::PlanNode;
using plan::PlanUses;
using plan::ValueId;
using tensor::DType;
using tensor::Tensor;

constexpr int kFirstArch = 89; ///< whose tensor cores take float8

/// One positive, finite number.
std::optional<double> singleScale(const Tensor &held)
{
    if (held.elementCount() != 1 || !tensor::fitsFloat32(held.dtype()))
        return std::nullopt;
    double scale = 0;
    tensor::widen(held.dtype(), held.bytes().data(), 1, &scale);
    return std::isfinite(scale) && scale > 0 ? std::optional(scale) : std::nullopt;
}

/// Data of a product: codes that a node decodes by one constant scale.
struct Data
{
    ValueId codes = plan::kNoValue;
    double scale = 1;
    const PlanNode *decoder = nullptr;
};

std::optional<Data> dataOf(const PlanGraph &graph, const PlanUses &uses, ValueId real)
{
    const std::uint32_t producer = uses.producer[real];
    const PlanNode *const node = producer == plan::kNoPlanNode ? nullptr : &graph.nodes[producer];
    const auto *decode = node == nullptr ? nullptr : node->op.getIf<ops::DequantizeLinear>();
    if (decode == nullptr || decode->block != 0 || !node->post.empty()
        || !plan::isFloat8(graph.desc(node->inputs[0]).dtype) || graph.isConstant(node->inputs[0])
        || !graph.isConstant(node->inputs[1]))
        return std::nullopt;
    if (decode->hasZeroPoint
        && !(graph.isConstant(node->inputs[2])
             && plan::isFloat8Zero(*graph.values[node->inputs[2]].constant)))
        return std::nullopt;
    const auto scale = singleScale(*graph.values[node->inputs[1]].constant);
    return scale ? std::optional(Data{node->inputs[0], *scale, node}) : std::nullopt;
}

/// Does the depth of the weight run fastest, as the library wants it? Nothing where the operator is no plain product of the two.
std::optional<bool> columnsFirst(const PlanGraph &graph, const PlanNode &node)
{
    if (node.op.is<ops::FullyConnected>())
        return true;
    const auto *product = node.op.getIf<ops::MatMul>();
    if (product == nullptr || product->transposeA || graph.desc(node.inputs[0]).shape.rank() < 2
        || (product->form == ops::MatMul::Form::Stretched && product->transposeB))
        return std::nullopt;
    return product->transposeB;
}

/// The product as a library gets it, over dense matrices and with nothing behind it.
/// data  codes; weight  codes, (columns, depth)
std::optional<ProductDesc> bareProduct(const PlanGraph &graph, const PlanNode &node, ValueId data,
                                       const Tensor &weight, double scale)
{
    const std::int64_t columns = weight.shape()[0];
    const std::int64_t depth = weight.shape()[1];
    const std::int64_t count = graph.desc(data).shape.elementCount().value_or(0);
    const std::int64_t results = graph.desc(node.outputs[0]).shape.elementCount().value_or(0);
    if (columns == 0 || depth == 0 || count == 0 || count % depth != 0 || count / depth * columns != results)
        return std::nullopt;
    ProductDesc desc;
    desc.a = viewOf({graph.desc(data).dtype, {count / depth, depth}});
    desc.b = permuted(viewOf({weight.dtype(), weight.shape()}), std::vector<std::size_t>{1, 0});
    desc.c = viewOf({graph.desc(node.outputs[0]).dtype, {count / depth, columns}});
    desc.scale = scale;
    return desc;
}

std::optional<Float8Product> float8Product(const PlanGraph &graph, const PlanUses &uses, const PlanNode &node)
{
    if (node.inputs.size() < 2 || node.outputs.empty())
        return std::nullopt;
    const auto isColumnsFirst = columnsFirst(graph, node);
    const auto data = isColumnsFirst ? dataOf(graph, uses, node.inputs[0]) : std::nullopt;
    const auto &weight = graph.values[node.inputs[1]].decodedFrom;
    const DType result = graph.desc(node.outputs[0]).dtype;
    if (!data || !weight || weight->codes.shape().rank() != 2
        || weight->codes.shape() != graph.desc(node.inputs[1]).shape
        || !(result == DType::F32 || tensor::isHalf(result)))
        return std::nullopt;
    const auto scale = singleScale(weight->scale);
    if (!scale)
        return std::nullopt;
    Tensor codes = *isColumnsFirst ? weight->codes : tensor::transposed(weight->codes);
    auto desc = bareProduct(graph, node, data->codes, codes, data->scale * *scale);
    if (!desc)
        return std::nullopt;
    return Float8Product{data->codes, std::move(codes), *std::move(desc), data->decoder->members};
}

} // namespace

Float8Products float8Products(const PlanGraph &graph, const PlanUses &uses, Gpu &gpu)
{
    Float8Products found;
    if (gpu.info().arch < kFirstArch || !gpu.hasLibraries())
        return found;
    for (std::uint32_t k = 0; k < graph.nodes.size(); ++k) {
        auto product = float8Product(graph, uses, graph.nodes[k]);
        if (product && gpu.prepare(product->desc).ok())
            found.emplace(k, std::move(*product));
    }
    return found;
}

std::optional<Result<void>> lowerFloat8(Emitter &emitter)
{
    const Float8Product *const product = emitter.float8Product();
    if (product == nullptr)
        return std::nullopt;
    const PlanNode &node = emitter.node();
    const auto data = emitter.readPlain(product->data);
    const Place to = emitter.write(node.outputs[0]);
    if (!data.ok())
        return Result<void>(data.error());
    const auto *full = node.op.getIf<ops::FullyConnected>();
    const auto owner = std::make_shared<Tensor>(product->weight);
    return emitMatrixProduct(emitter, product->desc,
                             {data.value().buffer, emitter.program().addConstant(owner->bytes(), owner),
                              full && full->hasBias ? std::optional(node.inputs[2]) : std::nullopt, to});
}

} // namespace halftone::backends::cuda
