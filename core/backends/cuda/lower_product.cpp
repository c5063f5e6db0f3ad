#include "core/backends/cuda/library_product.h"
#include "core/backends/cuda/lower.h"

#include <algorithm>

namespace halftone::backends::cuda {
namespace {

using plan::PlanNode;
using plan::ValueId;
using tensor::DType;

bool areFloats(const Emitter &emitter, const PlanNode &node)
{
    const auto isFloat = [&](ValueId value) {
        const DType type = emitter.graph().desc(value).dtype;
        return tensor::isFloat(type) && !typeName(type).empty();
    };
    return std::ranges::all_of(node.inputs, isFloat) && isFloat(node.outputs[0]);
}

/// Matrices in the last two axes of A, B and C, leading axes stretched.
struct MatrixNode
{
    View a;
    View b;
    View c;
    Place left;
    Place right;
    Place to;
    std::optional<ValueId> bias; ///< one value a column
};

View transposed(View view)
{
    const std::size_t rank = view.dims.size();
    std::swap(view.dims[rank - 2], view.dims[rank - 1]);
    std::swap(view.strides[rank - 2], view.strides[rank - 1]);
    return view;
}

ResultAxes axesOf(const View &c)
{
    return {[dims = c.dims](const View &view) { return reshaped(view, dims); }, c.dims.size() - 1};
}

Result<void> lowerMatrices(Emitter &emitter, const MatrixNode &matrices)
{
    ProductDesc desc{.a = matrices.a, .b = matrices.b, .c = matrices.c};
    desc.allowsTf32 = emitter.options().allowsTf32;
    const Operands operands{matrices.left.buffer, matrices.right.buffer, matrices.bias, matrices.to};
    const View &c = matrices.c;
    auto done = emitMatrixProduct(emitter, desc, operands);
    if (done.ok() || done.error().code != Errc::Unsupported)
        return done;
    if (productBlocks(c) > kMostBlocks)
        return refused("a product of so many blocks");
    HALFTONE_TRY(const Behind behind, behindProduct(emitter, matrices.bias, c, axesOf(c)));
    std::vector<BufferId> buffers{matrices.left.buffer, matrices.right.buffer};
    buffers.insert(buffers.end(), behind.buffers.begin(), behind.buffers.end());
    buffers.push_back(matrices.to.buffer);
    emitter.launchProduct(matrixProduct(matrices.a, matrices.b, c, behind.text), std::move(buffers),
                          workOf(desc));
    return {};
}

/// As one matrix each; nothing where a layout cannot be seen so.
std::optional<View> asMatrix(const View &view, std::int64_t rows, std::int64_t columns)
{
    return reshaped(view, Dims{rows, columns});
}

Result<void> lowerFull(Emitter &emitter, const ops::FullyConnected &op)
{
    const PlanNode &node = emitter.node();
    HALFTONE_TRY(const Place data, emitter.readPlain(node.inputs[0]));
    HALFTONE_TRY(const Place weight, emitter.read(node.inputs[1]));
    MatrixNode matrices{{}, {}, {}, data, weight, emitter.write(node.outputs[0]), {}};
    const std::int64_t features = weight.view.dims[1];
    const std::int64_t rows = op.units == 0 ? 0 : countOf(matrices.to.view.dims) / op.units;
    const auto a = asMatrix(data.view, rows, features);
    const auto c = asMatrix(matrices.to.view, rows, op.units);
    if (!a || !c || rows == 0)
        return refused("data in this layout");
    if (op.hasBias)
        matrices.bias = node.inputs[2];
    matrices.a = *a;
    matrices.b = transposed(weight.view);
    matrices.c = *c;
    return lowerMatrices(emitter, matrices);
}

Result<void> lowerDot(Emitter &emitter, const ops::MatMul &op, MatrixNode matrices)
{
    HALFTONE_TRY(matrices.left, emitter.readPlain(emitter.node().inputs[0]));
    HALFTONE_TRY(matrices.right, emitter.readPlain(emitter.node().inputs[1]));
    const View &a = matrices.left.view;
    const View &b = matrices.right.view;
    if (a.dims.empty() || b.dims.empty())
        return refused("a product with a scalar");
    const std::int64_t depth = op.transposeA ? a.dims.front() : a.dims.back();
    if (depth == 0)
        return refused("a sum of nothing");
    const std::int64_t rows = countOf(a.dims) / depth;
    const std::int64_t columns = countOf(b.dims) / depth;
    const auto left = op.transposeA ? asMatrix(a, depth, rows) : asMatrix(a, rows, depth);
    const auto right = op.transposeB ? asMatrix(b, columns, depth) : asMatrix(b, depth, columns);
    const auto result = asMatrix(matrices.to.view, rows, columns);
    if (!left || !right || !result)
        return refused("data in this layout");
    matrices.a = op.transposeA ? transposed(*left) : *left;
    matrices.b = op.transposeB ? transposed(*right) : *right;
    matrices.c = *result;
    return lowerMatrices(emitter, matrices);
}

Result<void> lowerMatMul(Emitter &emitter, const ops::MatMul &op)
{
    const PlanNode &node = emitter.node();
    HALFTONE_TRY(const Place left, emitter.read(node.inputs[0]));
    HALFTONE_TRY(const Place right, emitter.read(node.inputs[1]));
    MatrixNode matrices{left.view, right.view, {}, left, right, emitter.write(node.outputs[0]), {}};
    if (op.form == ops::MatMul::Form::Dot)
        return lowerDot(emitter, op, std::move(matrices));
    View &a = matrices.a;
    View &b = matrices.b;
    if (a.dims.size() < 2 || b.dims.size() < 2)
        return refused("a product with a vector");
    if (op.form == ops::MatMul::Form::Batched) {
        a = op.transposeA ? transposed(a) : a;
        b = op.transposeB ? transposed(b) : b;
    }
    matrices.c = matrices.to.view;
    if (a.dims.back() == 0)
        return refused("a sum of nothing");
    Dims dims = matrices.c.dims; // of the leading axes, those of the result
    const auto stretchedMatrix = [&dims](const View &view) {
        Dims target = dims;
        target[dims.size() - 2] = view.dims[view.dims.size() - 2];
        target[dims.size() - 1] = view.dims.back();
        View result = stretched(view, target);
        return result;
    };
    a = stretchedMatrix(a);
    b = stretchedMatrix(b);
    return lowerMatrices(emitter, matrices);
}

} // namespace

Result<void> emitMatrixProduct(Emitter &emitter, const ProductDesc &desc, const Operands &operands)
{
    return emitLibraryProduct(emitter, desc, operands, axesOf(desc.c));
}

std::optional<Result<void>> lowerProduct(Emitter &emitter)
{
    const PlanNode &node = emitter.node();
    const bool isProduct = node.op.is<ops::Conv>() || node.op.is<ops::ConvTranspose>()
        || node.op.is<ops::FullyConnected>() || node.op.is<ops::MatMul>();
    if (!isProduct)
        return std::nullopt;
    if (!areFloats(emitter, node))
        return refused("a product of integers");
    if (auto done = lowerConvolution(emitter))
        return done;
    if (const auto *full = node.op.getIf<ops::FullyConnected>())
        return lowerFull(emitter, *full);
    return lowerMatMul(emitter, node.op.as<ops::MatMul>());
}

} // namespace halftone::backends::cuda
