#include "core/backends/onednn/loops/winograd.h"
#include "core/backends/onednn/loops/word_products.h"
#include "core/backends/onednn/lower.h"
#include "core/ops/window.h"

#include <omp.h>

#include <algorithm>

namespace halftone::backends::onednn {
namespace {

constexpr double kWorthIt = 0.85; ///< of the time of oneDNN's kernel: an estimate's errors are smaller

/// What comes behind a convolution, as far as the kernel does it.
struct Behind
{
    plan::ValueId addend = plan::kNoValue;
    float low = -std::numeric_limits<float>::infinity();
    float high = std::numeric_limits<float>::infinity();
};

/// A sum with a tensor of the result's shape and type, and then ReLU or a clip.
std::optional<Behind> behind(const Emitter &emitter, const plan::PlanNode &node)
{
    Behind behind;
    bool isCut = false;
    for (const plan::PostOp &post : node.post) {
        if (isCut)
            return std::nullopt;
        if (const auto *binary = post.op.getIf<ops::Binary>()) {
            if (binary->kind != ops::BinaryKind::Add || behind.addend != plan::kNoValue
                || emitter.desc(post.operand) != emitter.desc(node.outputs[0]))
                return std::nullopt;
            behind.addend = post.operand;
            continue;
        }
        const auto function = eltwiseOf(post.op);
        isCut = true;
        if (function && function->algorithm == dnnl::algorithm::eltwise_relu && function->alpha == 0) {
            behind.low = 0;
        } else if (function && function->algorithm == dnnl::algorithm::eltwise_clip) {
            behind.low = function->alpha;
            behind.high = function->beta;
        } else {
            return std::nullopt;
        }
    }
    return behind;
}

bool areOnes(const ops::Dims &dims)
{
    return std::ranges::all_of(dims, [](std::int64_t dim) { return dim == 1; });
}

std::optional<WinogradConv> winogradShape(const Emitter &emitter, const plan::PlanNode &node,
                                          const ops::Conv &conv)
{
    const auto window = ops::makeWindow(conv.kernel, conv.stride, conv.dilate, conv.pad);
    if (!window.ok() || conv.kernel != ops::Dims{3, 3} || !areOnes(window.value().stride)
        || !areOnes(window.value().dilate) || conv.groups != 1 || conv.layout != ops::Layout::ChannelsFirst)
        return std::nullopt;
    const auto type = dnnlType(emitter.desc(node.inputs[0]).dtype);
    if (type != Type::f32 && type != Type::bf16)
        return std::nullopt;
    for (const plan::ValueId value : {node.inputs[1], node.outputs[0]})
        if (emitter.desc(value).dtype != emitter.desc(node.inputs[0]).dtype)
            return std::nullopt;
    const tensor::Shape &from = emitter.desc(node.inputs[0]).shape;
    const tensor::Shape &to = emitter.desc(node.outputs[0]).shape;
    if (from[1] % 16 != 0 || to[1] % 16 != 0)
        return std::nullopt;
    WinogradConv shape;
    shape.pictures = from[0];
    shape.channels = from[1];
    shape.outputs = to[1];
    for (std::size_t k = 0; k < 2; ++k) {
        shape.from[k] = from[2 + k];
        shape.to[k] = to[2 + k];
        shape.pad[k] = window.value().padBegin[k];
    }
    shape.isBlocked = emitter.format() == Format::Blocked;
    shape.type = dtypeOf(*type);
    shape.hasBias = node.inputs.size() > 2;
    return shape;
}

/// The size of tiles that is fastest; nothing where oneDNN's kernel is about as fast.
std::optional<int> tileFor(WinogradConv shape)
{
    const int threads = omp_get_max_threads();
    const auto costOf = [&](int tile) {
        shape.tile = tile;
        return winogradCost(shape, threads);
    };
    const double small = costOf(2);
    const double large = costOf(4);
    if (std::min(small, large) > kWorthIt * directCost(shape))
        return std::nullopt;
    return small <= large ? 2 : 4;
}

} // namespace

Result<bool> lowerWinograd(Emitter &emitter, const plan::PlanNode &node, const ops::Conv &conv)
{
    if (!emitter.mayUseOwnConvolutions() || emitter.format() == Format::Other
        || !emitter.graph().isConstant(node.inputs[1]) || !hasWideVectors()
        || channelBlock() != 16) // oneDNN may have been told to do without
        return false;
    std::optional<WinogradConv> shape = winogradShape(emitter, node, conv);
    const std::optional<Behind> after = behind(emitter, node);
    if (!shape || !after || (shape->type == tensor::DType::BF16 && multipliesTiles()))
        return false;
    const std::optional<int> tile = tileFor(*shape);
    if (!tile)
        return false;
    shape->tile = *tile;
    shape->hasAddend = after->addend != plan::kNoValue;
    shape->low = after->low;
    shape->high = after->high;
    const auto from
        = descIn(emitter.format(), dimsOf(emitter.desc(node.inputs[0]).shape), *dnnlType(shape->type));
    const auto to
        = descIn(emitter.format(), dimsOf(emitter.desc(node.outputs[0]).shape), *dnnlType(shape->type));
    if (!from || !to)
        return false;
    HALFTONE_TRY(const Place data, emitter.readAs(node.inputs[0], *from));
    const tensor::Tensor &filters = *emitter.graph().values[node.inputs[1]].constant;
    HALFTONE_TRY(const Place weights,
                 emitter.constant(filters, "winograd " + std::to_string(*tile), plainDesc({1}, Type::f32),
                                  [&] { return winogradWeights(*shape, filters); }));
    std::vector<BufferId> inputs{data.buffer, weights.buffer};
    if (shape->hasBias) {
        HALFTONE_TRY(const Place bias,
                     emitter.readAs(node.inputs[2], plainDesc({shape->outputs}, Type::f32)));
        inputs.push_back(bias.buffer);
    }
    Place result;
    if (shape->hasAddend) {
        HALFTONE_TRY(const Place addend, emitter.readAs(after->addend, *to));
        inputs.push_back(addend.buffer);
        result = emitter.writeOver(node.outputs[0], *to, after->addend, addend);
    } else {
        result = emitter.write(node.outputs[0], *to);
    }
    emitter.addKernel(winogradKernel(*shape, 0), std::move(inputs), {result.buffer});
    return true;
}

} // namespace halftone::backends::onednn
