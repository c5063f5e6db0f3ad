#include "core/backends/cuda/attention.h"
#include "core/backends/cuda/attention_kernel.h"
#include "core/backends/cuda/lower.h"

#include <cmath>
#include <limits>

/// Attention as one step of a library, or as a product, a softmax and a product.
namespace halftone::backends::cuda {
namespace {

using plan::PlanNode;
using plan::ValueId;
using tensor::DType;

/// What is attended to, seen as (N, heads, T, size), and where it lies.
struct AttentionNode
{
    AttentionDesc desc;
    BufferId queries = 0;
    BufferId keys = 0;
    BufferId values = 0;
    std::optional<BufferId> mask;
    BufferId result = 0;
    double scale = 1;
};

/// Rows (N, T, columns), in which heads lie side by side from `column` on.
View headsOf(const View &rows, std::int64_t heads, std::int64_t size, std::int64_t column)
{
    return {rows.dtype,
            {rows.dims[0], heads, rows.dims[1], size},
            {rows.strides[0], size * rows.strides[2], rows.strides[1], rows.strides[2]},
            rows.offset + column * rows.strides[2]};
}

/// Matrices that cuBLASLt cannot count through with one distance are put one behind the other before.
Result<Place> inSteps(Emitter &emitter, const View &view, BufferId buffer)
{
    const Dims flat{view.dims[0] * view.dims[1], view.dims[2], view.dims[3]};
    if (reshaped(view, flat))
        return Place{buffer, view};
    const View dense = viewOf({view.dtype, tensor::Shape(view.dims)});
    const auto bytes = static_cast<std::size_t>(countOf(view.dims)) * tensor::sizeOf(view.dtype);
    const Place place{emitter.program().addBuffer(bytes), dense};
    emitter.launch(elementwise(std::vector<View>{view}, dense, {}, "x0", "heads"), {buffer, place.buffer});
    return place;
}

View turned(View view)
{
    std::swap(view.dims[2], view.dims[3]);
    std::swap(view.strides[2], view.strides[3]);
    return view;
}

/// c = a · b · scale, by a library where one takes it.
Result<void> multiply(Emitter &emitter, const Place &a, const Place &b, const Place &c, double scale)
{
    ProductDesc desc{.a = a.view, .b = b.view, .c = c.view};
    desc.scale = scale;
    desc.allowsTf32 = emitter.options().allowsTf32;
    auto product = emitter.program().gpu().prepare(desc);
    if (product.ok()) {
        emitter.program().addProduct(withWork(emitter.stepOf(emitter.node()), workOf(desc)),
                                     std::move(product).value(), {a.buffer, b.buffer, c.buffer});
        return {};
    }
    if (product.error().code != Errc::Unsupported)
        return product.error();
    if (productBlocks(c.view) > kMostBlocks)
        return refused("attention of so many blocks");
    Epilogue epilogue;
    if (scale != 1)
        epilogue.expression = "acc * " + literal(scale, numberName(c.view.dtype));
    emitter.launchProduct(matrixProduct(a.view, b.view, c.view, epilogue), {a.buffer, b.buffer, c.buffer},
                          workOf(desc));
    return {};
}

/// Scores are kept in the type that sums are made in: they are rounded once, as weights.
Result<void> emitParts(Emitter &emitter, const AttentionNode &node)
{
    const AttentionDesc &desc = node.desc;
    const bool hasLibraries = emitter.program().gpu().hasLibraries();
    const auto operand = [&](const View &view, BufferId buffer) {
        return hasLibraries ? inSteps(emitter, view, buffer) : Result<Place>(Place{buffer, view});
    };
    HALFTONE_TRY(const Place queries, operand(desc.queries, node.queries));
    HALFTONE_TRY(Place keys, operand(desc.keys, node.keys));
    HALFTONE_TRY(const Place values, operand(desc.values, node.values));
    keys.view = turned(keys.view);
    const Dims square{desc.queries.dims[0], desc.queries.dims[1], desc.queries.dims[2], desc.keys.dims[2]};
    if (countOf(square) > kMostBlocks)
        return refused("so many scores");
    const DType type = desc.queries.dtype;
    const DType wide = tensor::isHalf(type) ? DType::F32 : type;
    const auto room = [&](DType of) {
        return emitter.program().addBuffer(static_cast<std::size_t>(countOf(square)) * tensor::sizeOf(of));
    };
    const Place scores{room(wide), viewOf({wide, tensor::Shape(square)})};
    HALFTONE_CHECK(multiply(emitter, queries, keys, scores, node.scale));
    const Place weights{room(type), viewOf({type, tensor::Shape(square)})};
    Lines lines{{false, false, false, true}, {scores.view}, weights.view};
    std::vector<BufferId> buffers{scores.buffer};
    SoftmaxForm form;
    if (desc.mask) {
        form.hasMask = true;
        lines.inputs.push_back(*desc.mask);
        buffers.push_back(*node.mask);
    }
    buffers.push_back(weights.buffer);
    emitter.launch(softmax(lines, form), std::move(buffers));
    const Dims flat{square[0] * square[1], desc.result.dims[2], desc.result.dims[3]};
    if (!hasLibraries || reshaped(desc.result, flat))
        return multiply(emitter, weights, values, {node.result, desc.result}, 1);
    const View dense = viewOf({desc.result.dtype, tensor::Shape(desc.result.dims)});
    const Place apart{emitter.program().addBuffer(static_cast<std::size_t>(countOf(dense.dims))
                                                  * tensor::sizeOf(dense.dtype)),
                      dense};
    HALFTONE_CHECK(multiply(emitter, weights, values, apart, 1));
    emitter.launch(elementwise(std::vector<View>{dense}, desc.result, {}, "x0", "heads"),
                   {apart.buffer, node.result});
    return {};
}

Result<void> emitAttention(Emitter &emitter, const AttentionNode &node)
{
    const AttentionDesc &desc = node.desc;
    if (!tensor::isFloat(desc.queries.dtype) || desc.keys.dtype != desc.queries.dtype
        || desc.values.dtype != desc.queries.dtype || countOf(desc.result.dims) == 0
        || desc.keys.dims[2] == 0)
        return refused("attention over these types or shapes");
    Gpu &gpu = emitter.program().gpu();
    if (auto kernel = attentionKernel(desc, node.scale, gpu.info().arch)) {
        std::vector<BufferId> buffers{node.queries, node.keys, node.values};
        if (node.mask)
            buffers.push_back(*node.mask);
        buffers.push_back(node.result);
        emitter.launchProduct(std::move(*kernel), std::move(buffers), workOf(desc));
        return {};
    }
    auto fused = gpu.prepareAttention(desc);
    if (!fused.ok())
        return fused.error().code == Errc::Unsupported ? emitParts(emitter, node) : fused.error();
    std::vector<BufferId> buffers{node.queries, node.keys, node.values,
                                  emitter.constant(std::vector<float>{static_cast<float>(node.scale)})};
    if (node.mask)
        buffers.push_back(*node.mask);
    buffers.push_back(node.result);
    emitter.program().addProduct(withWork(emitter.stepOf(emitter.node()), workOf(desc)),
                                 std::move(fused).value(), std::move(buffers));
    return {};
}

Result<void> readMask(Emitter &emitter, AttentionNode &node, ValueId value)
{
    HALFTONE_TRY(const Place mask, emitter.read(value));
    const Dims square{node.desc.queries.dims[0], node.desc.queries.dims[1], node.desc.queries.dims[2],
                      node.desc.keys.dims[2]};
    const std::size_t missing = 4 - std::min<std::size_t>(4, mask.view.dims.size());
    bool stretches = mask.view.dims.size() <= 4 && tensor::isFloat(mask.view.dtype);
    for (std::size_t axis = 0; stretches && axis < mask.view.dims.size(); ++axis)
        stretches = mask.view.dims[axis] == 1 || mask.view.dims[axis] == square[missing + axis];
    if (!stretches)
        return refused("a mask of this type or shape");
    node.desc.mask = stretched(mask.view, square);
    node.mask = mask.buffer;
    return {};
}

Result<void> lowerRows(Emitter &emitter, const ops::RowAttention &op)
{
    const PlanNode &node = emitter.node();
    if (op.keyHeads != op.heads || !node.post.empty())
        return refused("attention whose heads share keys");
    std::vector<Place> rows;
    for (std::size_t k = 0; k < 3; ++k) {
        HALFTONE_TRY(Place place, emitter.readPlain(node.inputs[k]));
        if (place.view.dims.size() != 3)
            return refused("attention over other than rows");
        rows.push_back(std::move(place));
    }
    AttentionNode attention;
    attention.scale = op.scale;
    attention.queries = rows[0].buffer;
    attention.keys = rows[1].buffer;
    attention.values = rows[2].buffer;
    attention.desc.queries = headsOf(rows[0].view, op.heads, op.size, op.columns[0]);
    attention.desc.keys = headsOf(rows[1].view, op.heads, op.size, op.columns[1]);
    attention.desc.values = headsOf(rows[2].view, op.heads, op.valueSize, op.columns[2]);
    if (op.hasMask)
        HALFTONE_CHECK(readMask(emitter, attention, node.inputs[3]));
    const Place to = emitter.write(node.outputs[0]);
    const auto result
        = reshaped(to.view, Dims{rows[0].view.dims[0], rows[0].view.dims[1], op.heads * op.valueSize});
    if (!result)
        return refused("attention to this layout");
    attention.result = to.buffer;
    attention.desc.result = headsOf(*result, op.heads, op.valueSize, 0);
    return emitAttention(emitter, attention);
}

/// (N, heads, T, size) itself, or rows of that.
std::optional<View> headsOfInput(const View &view, std::int64_t heads)
{
    if (view.dims.size() == 4)
        return view;
    if (view.dims.size() != 3 || heads <= 0 || view.dims[2] % heads != 0)
        return std::nullopt;
    return headsOf(view, heads, view.dims[2] / heads, 0);
}

/// A mask that hides the keys behind a query's own place.
Place futureMask(Emitter &emitter, std::int64_t queries, std::int64_t keys)
{
    std::vector<float> values(static_cast<std::size_t>(queries * keys), 0);
    for (std::int64_t q = 0; q < queries; ++q)
        for (std::int64_t k = q + 1; k < keys; ++k)
            values[static_cast<std::size_t>(q * keys + k)] = -std::numeric_limits<float>::infinity();
    return {emitter.constant(std::move(values)), viewOf({DType::F32, {queries, keys}})};
}

/// ONNX's operator, as far as it is no more than that. A mask may hide all keys from a query, whose result is 0 then: kernels of the device
/// and of its libraries give NaN.
Result<void> lowerWhole(Emitter &emitter, const ops::Attention &op)
{
    constexpr std::int64_t kLargestMask = std::int64_t{1} << 24;
    const PlanNode &node = emitter.node();
    if (op.cap != 0 || op.left || op.right || op.hasPast || op.hasLengths || op.hasMask
        || tensor::isHalf(op.softmaxType) || !node.post.empty())
        return refused("attention of this form");
    AttentionNode attention;
    std::vector<View> views;
    std::vector<BufferId> buffers;
    for (std::size_t k = 0; k < 3; ++k) {
        HALFTONE_TRY(const Place place, emitter.readPlain(node.inputs[k]));
        const auto view = headsOfInput(place.view, k == 0 ? op.queryHeads : op.keyHeads);
        if (!view)
            return refused("heads of this shape");
        views.push_back(*view);
        buffers.push_back(place.buffer);
    }
    const Dims &queries = views[0].dims;
    if (views[1].dims[1] != queries[1] || views[2].dims[1] != queries[1])
        return refused("attention whose heads share keys");
    attention.desc.queries = views[0];
    attention.desc.keys = views[1];
    attention.desc.values = views[2];
    attention.queries = buffers[0];
    attention.keys = buffers[1];
    attention.values = buffers[2];
    attention.scale = op.scale.value_or(1 / std::sqrt(static_cast<double>(queries[3])));
    if (op.causal) {
        if (queries[2] * views[1].dims[2] > kLargestMask)
            return refused("attention to what went before over so many places");
        const Place mask = futureMask(emitter, queries[2], views[1].dims[2]);
        attention.desc.mask
            = stretched(mask.view, Dims{queries[0], queries[1], queries[2], views[1].dims[2]});
        attention.mask = mask.buffer;
    }
    const Place to = emitter.write(node.outputs[0]);
    const auto result = headsOfInput(to.view, op.queryHeads);
    if (!result)
        return refused("attention to this shape");
    attention.result = to.buffer;
    attention.desc.result = *result;
    return emitAttention(emitter, attention);
}

} // namespace

std::optional<Result<void>> lowerAttention(Emitter &emitter)
{
    if (const auto *rows = emitter.node().op.getIf<ops::RowAttention>())
        return lowerRows(emitter, *rows);
    if (const auto *whole = emitter.node().op.getIf<ops::Attention>())
        return lowerWhole(emitter, *whole);
    return std::nullopt;
}

} // namespace halftone::backends::cuda
