#include "core/backends/cuda/lower.h"
#include "core/backends/cuda/spatial_text.h"
#include "core/plan/coded_values.h"

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

/// A bias in front of what follows: `axis` is that of the channels.
void prependBias(Epilogue &epilogue, const View &bias, const Dims &dims, std::size_t axis)
{
    View along{bias.dtype, dims, Dims(dims.size(), 0), bias.offset};
    along.strides[axis] = bias.strides[0];
    const std::string name = "e" + std::to_string(epilogue.operands.size());
    epilogue.operands.push_back(along);
    const std::string first = "biased";
    std::string statements = "    const auto biased = acc + " + name + ";\n";
    std::string rest = epilogue.statements;
    for (std::size_t at = rest.find("(acc)"); at != std::string::npos;
         at = rest.find("(acc)", at + first.size()))
        rest.replace(at, 5, "(biased)");
    epilogue.statements = statements + rest;
    if (epilogue.expression == "acc")
        epilogue.expression = first;
}

/// The library's product with all that stands behind it, where it takes this one.
Result<void> byLibrary(Emitter &emitter, ProductDesc desc, const Operands &operands)
{
    const PlanNode &node = emitter.node();
    const auto fusion = fusionOf(emitter.graph(), node, !desc.isConvolution && !operands.bias);
    if (!fusion)
        return refused("post-operations that no library takes");
    std::vector<BufferId> buffers{operands.a, operands.b};
    std::optional<ValueId> bias = operands.bias;
    if (fusion->bias != plan::kNoValue)
        bias = fusion->bias;
    desc.hasBias = bias.has_value();
    if (bias) {
        HALFTONE_TRY(const Place place, emitter.readIn(*bias, desc.c.dtype));
        buffers.push_back(place.buffer);
    }
    if (fusion->residual != plan::kNoValue) {
        HALFTONE_TRY(const Place residual, emitter.read(fusion->residual));
        desc.residual = desc.isConvolution ? residual.view : reshaped(residual.view, desc.c.dims);
        if (!desc.residual)
            return refused("a residual in this layout");
        buffers.push_back(residual.buffer);
    }
    desc.activation = fusion->activation;
    desc.ceiling = fusion->ceiling;
    HALFTONE_TRY(std::unique_ptr<Product> product, emitter.program().gpu().prepare(desc));
    buffers.push_back(operands.to.buffer);
    emitter.program().addProduct(withWork(emitter.stepOf(node), workOf(desc)), std::move(product),
                                 std::move(buffers));
    return {};
}

/// An epilogue whose operands are seen as the product's result is, the bias in front.
struct Behind
{
    Epilogue text;
    std::vector<BufferId> buffers;
};

template <class See>
Result<Behind> behindProduct(Emitter &emitter, const std::optional<ValueId> &bias, const View &result,
                             std::size_t biasAxis, const See &see)
{
    HALFTONE_TRY(auto epilogue, emitter.epilogueOf(emitter.node()));
    Behind behind{std::move(epilogue.first), std::move(epilogue.second)};
    for (View &operand : behind.text.operands) {
        const std::optional<View> view = see(operand);
        if (!view)
            return refused("a post-operation whose operand does not fit the product");
        operand = *view;
    }
    if (bias) {
        HALFTONE_TRY(const Place place, emitter.read(*bias));
        prependBias(behind.text, place.view, result.dims, biasAxis);
        behind.buffers.push_back(place.buffer);
    }
    return behind;
}

/// The library's bare product, and what it does not do behind it by a kernel of our own: better than a product of our own. Sums of
/// halves and of float8 are kept in float32 in between, where the library writes them so.
Result<void> byBoth(Emitter &emitter, ProductDesc desc, const Operands &operands, const Behind &behind)
{
    if (!emitter.program().gpu().hasLibraries())
        return refused("a product without libraries");
    const View result = desc.c;
    const bool isCoded = plan::isFloat8(desc.a.dtype);
    const DType narrow = isCoded ? result.dtype : desc.a.dtype;
    const bool isBare = behind.text.statements.empty() && behind.text.expression == "acc";
    desc.c = denseLike(result);
    Result<std::unique_ptr<Product>> product = refused("a product that no library takes");
    for (const DType type : {isCoded || tensor::isHalf(narrow) ? DType::F32 : narrow, narrow}) {
        if (product.ok() || product.error().code != Errc::Unsupported)
            break;
        desc.c.dtype = type;
        if (!isBare || type != result.dtype) // that was asked already
            product = emitter.program().gpu().prepare(desc);
    }
    if (!product.ok())
        return product.error();
    const BufferId sums = emitter.program().addBuffer(static_cast<std::size_t>(countOf(desc.c.dims))
                                                      * tensor::sizeOf(desc.c.dtype));
    emitter.program().addProduct(withWork(emitter.stepOf(emitter.node()), workOf(desc)),
                                 std::move(product).value(), {operands.a, operands.b, sums});
    finishSums(emitter, {sums, desc.c}, {operands.to.buffer, result}, behind.text, behind.buffers);
    return {};
}

/// A convolution's window, data and weight, as the kernels see them.
struct ConvNode
{
    SpatialText text;
    Place data;
    Place weight;
    View weightView; ///< (O, I / groups, kernel…)
    std::optional<ValueId> bias;
    Place to;
};

template <class Op>
Result<ConvNode> convNode(Emitter &emitter, const Op &op, Order order)
{
    const PlanNode &node = emitter.node();
    const bool isFirst = op.layout == ops::Layout::ChannelsFirst;
    HALFTONE_TRY(const Place data, // libraries want all of it in one order
                 emitter.program().gpu().hasLibraries() && isFirst ? emitter.readAs(node.inputs[0], order)
                                                                   : emitter.read(node.inputs[0]));
    HALFTONE_TRY(
        const Place weight,
        emitter.readAs(node.inputs[1], op.layout == ops::Layout::ChannelsFirst ? order : Order::Plain));
    ConvNode conv{{}, data, weight, channelsFirst(weight.view, op.layout), {}, {}};
    HALFTONE_TRY(conv.text.window, ops::makeWindow(op.kernel, op.stride, op.dilate, op.pad));
    if (op.hasBias)
        conv.bias = node.inputs[2];
    conv.text.groups = op.groups;
    conv.text.data = channelsFirst(data.view, op.layout);
    conv.to = emitter.write(node.outputs[0], op.layout == ops::Layout::ChannelsFirst ? order : Order::Plain);
    conv.text.result = channelsFirst(conv.to.view, op.layout);
    return conv;
}

/// What stands behind a convolution; operands stand in the result's own axes, the kernel walks those with channels in front.
Result<Behind> behindConvolution(Emitter &emitter, const ConvNode &conv)
{
    const bool isLast
        = conv.text.result.dims != conv.to.view.dims || conv.text.result.strides != conv.to.view.strides;
    return behindProduct(emitter, conv.bias, conv.text.result, 1, [isLast](const View &view) {
        return std::optional(isLast ? channelsFirst(view, ops::Layout::ChannelsLast) : view);
    });
}

void ownConvolution(Emitter &emitter, const ConvNode &conv, const Behind &behind, const std::string &body,
                    std::string label, double flops)
{
    std::vector<BufferId> buffers{conv.data.buffer, conv.weight.buffer};
    buffers.insert(buffers.end(), behind.buffers.begin(), behind.buffers.end());
    buffers.push_back(conv.to.buffer);
    const std::vector<DType> types{conv.data.view.dtype, conv.weight.view.dtype};
    emitter.launchProduct(perElement(types, conv.text.result, body, behind.text, std::move(label)),
                          std::move(buffers), flops);
}

Result<void> lowerConv(Emitter &emitter, const ops::Conv &op)
{
    HALFTONE_TRY(const ConvNode conv, convNode(emitter, op, Order::ChannelsLast));
    ProductDesc desc{.isConvolution = true, .a = conv.text.data, .b = conv.weightView, .c = conv.text.result};
    desc.stride = conv.text.window.stride;
    desc.dilate = conv.text.window.dilate;
    desc.padBegin = conv.text.window.padBegin;
    desc.padEnd = conv.text.window.padEnd;
    desc.groups = op.groups;
    desc.allowsTf32 = emitter.options().allowsTf32;
    const Operands operands{conv.data.buffer, conv.weight.buffer, conv.bias, conv.to};
    auto done = byLibrary(emitter, desc, operands);
    if (done.ok() || done.error().code != Errc::Unsupported)
        return done;
    HALFTONE_TRY(const Behind behind, behindConvolution(emitter, conv));
    auto apart = byBoth(emitter, desc, operands, behind);
    if (apart.ok() || apart.error().code != Errc::Unsupported)
        return apart;
    ownConvolution(emitter, conv, behind, convolutionText(conv.text, conv.weightView), "convolution",
                   workOf(desc).flops);
    return {};
}

Result<void> lowerDeconv(Emitter &emitter, const ops::Deconv &op)
{
    if (std::ranges::any_of(op.targetShape, [](std::int64_t extent) { return extent != 0; }))
        return refused("a transposed convolution to a given shape");
    HALFTONE_TRY(const ConvNode conv, convNode(emitter, op, Order::Plain));
    HALFTONE_TRY(const Behind behind, behindConvolution(emitter, conv));
    // Each value of the data meets each weight of its channel once.
    const double taps = static_cast<double>(countOf(std::span(conv.weightView.dims).subspan(1)));
    ownConvolution(emitter, conv, behind, transposedText(conv.text, conv.weightView),
                   "transposed convolution", 2 * taps * static_cast<double>(countOf(conv.text.data.dims)));
    return {};
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

Result<Behind> behindMatrices(Emitter &emitter, const std::optional<ValueId> &bias, const View &c)
{
    return behindProduct(emitter, bias, c, c.dims.size() - 1,
                         [&c](const View &view) { return reshaped(view, c.dims); });
}

Result<void> lowerMatrices(Emitter &emitter, const MatrixNode &matrices)
{
    ProductDesc desc{.a = matrices.a, .b = matrices.b, .c = matrices.c};
    desc.allowsTf32 = emitter.options().allowsTf32;
    const Operands operands{matrices.left.buffer, matrices.right.buffer, matrices.bias, matrices.to};
    auto done = byLibrary(emitter, desc, operands);
    if (done.ok() || done.error().code != Errc::Unsupported)
        return done;
    const View &c = matrices.c;
    if (productBlocks(c) > kMostBlocks)
        return refused("a product of so many blocks");
    HALFTONE_TRY(const Behind behind, behindMatrices(emitter, matrices.bias, c));
    auto apart = byBoth(emitter, desc, operands, behind);
    if (apart.ok() || apart.error().code != Errc::Unsupported)
        return apart;
    std::vector<BufferId> buffers{matrices.left.buffer, matrices.right.buffer};
    buffers.insert(buffers.end(), behind.buffers.begin(), behind.buffers.end());
    buffers.push_back(matrices.to.buffer);
    emitter.launchProduct(matrixProduct(matrices.a, matrices.b, c, behind.text), std::move(buffers),
                          workOf(desc).flops);
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

Result<void> emitLibraryProduct(Emitter &emitter, const ProductDesc &desc, const Operands &operands)
{
    auto done = byLibrary(emitter, desc, operands);
    if (done.ok() || done.error().code != Errc::Unsupported)
        return done;
    HALFTONE_TRY(const Behind behind, behindMatrices(emitter, operands.bias, desc.c));
    return byBoth(emitter, desc, operands, behind);
}

std::optional<Result<void>> lowerProduct(Emitter &emitter)
{
    const PlanNode &node = emitter.node();
    const bool isProduct = node.op.is<ops::Conv>() || node.op.is<ops::Deconv>()
        || node.op.is<ops::FullyConnected>() || node.op.is<ops::MatMul>();
    if (!isProduct)
        return std::nullopt;
    if (!areFloats(emitter, node))
        return refused("a product of integers");
    if (const auto *conv = node.op.getIf<ops::Conv>())
        return lowerConv(emitter, *conv);
    if (const auto *deconv = node.op.getIf<ops::Deconv>())
        return lowerDeconv(emitter, *deconv);
    if (const auto *full = node.op.getIf<ops::FullyConnected>())
        return lowerFull(emitter, *full);
    return lowerMatMul(emitter, node.op.as<ops::MatMul>());
}

} // namespace halftone::backends::cuda
