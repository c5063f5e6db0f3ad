#include "core/backends/onednn/int8_scales.h"
#include "core/backends/onednn/loops/code_conv.h"
#include "core/backends/onednn/loops/pair_conv.h"
#include "core/backends/onednn/loops/word_products.h"
#include "core/ops/window.h"

#include <algorithm>
#include <limits>

namespace halftone::backends::onednn {
namespace {

constexpr std::int64_t kFewChannels = 4; ///< oneDNN fills them up to more
constexpr std::int64_t kFewProducts = 64; ///< so that what is done to each sum takes longer than the sum

/// A concatenation that is the only reader of a value, and where among its channels that comes.
struct Joint
{
    plan::ValueId whole = plan::kNoValue;
    std::int64_t channel = 0;
};

/// Nothing where the codes of the whole stand for other numbers than those of the part.
std::optional<Joint> jointOf(const Emitter &emitter, plan::ValueId part)
{
    if (!emitter.uses().hasOneReader(part))
        return std::nullopt;
    const plan::PlanNode &reader = emitter.graph().nodes[emitter.uses().readers[part][0]];
    const auto *concat = reader.op.getIf<ops::Quantized<ops::Concat>>();
    if (concat == nullptr || concat->op.axis != 1)
        return std::nullopt;
    const auto parts = static_cast<std::size_t>(concat->op.inputs);
    const auto whole = resultScale(emitter, reader);
    Joint joint{reader.outputs[0], 0};
    std::int64_t channels = 0;
    for (std::size_t k = 0; k < parts; ++k) {
        const auto own = codeScale(emitter, reader.inputs[k], reader.inputs[parts + 2 * k],
                                   reader.inputs[parts + 2 * k + 1]);
        // All or none: the others would be scaled over what lies there.
        if (!whole.ok() || !own.ok() || own.value() != whole.value()
            || emitter.desc(reader.inputs[k]).dtype != emitter.desc(joint.whole).dtype)
            return std::nullopt;
        if (reader.inputs[k] == part)
            joint.channel = channels;
        channels += emitter.desc(reader.inputs[k]).shape[1];
    }
    return joint;
}

/// Are oneDNN's kernels slower?
bool isShort(const CodeConv &conv)
{
    return conv.channels <= kFewChannels
        || (conv.kernel[0] * conv.kernel[1] * conv.channels <= kFewProducts && conv.paddedBytes() == 0
            && conv.outputs > conv.channels);
}

bool isPlainEnough(const ops::FusedProduct &op, const Int8Product &product, bool isPaired)
{
    const bool isSimple
        = !op.isPlain && !op.requantized && (op.realOutput ? isPaired && !op.hasSum : product.hasResultScale);
    return isSimple && !product.weightSteps.empty() && op.conv->groups == 1 && op.conv->kernel.size() == 2;
}

/// Where results are cut. Nothing for a function that does more.
bool setLimits(const ops::FusedProduct &op, CodeConv &conv)
{
    conv.low = -std::numeric_limits<double>::infinity();
    conv.high = std::numeric_limits<double>::infinity();
    if (op.activation) {
        const Eltwise function = eltwiseOf(*op.activation);
        if (function.algorithm == dnnl::algorithm::eltwise_relu && function.alpha == 0) {
            conv.low = 0;
        } else if (function.algorithm == dnnl::algorithm::eltwise_clip) {
            conv.low = function.alpha;
            conv.high = function.beta;
        } else {
            return false;
        }
    }
    if (op.limits.low && op.limits.high) {
        conv.low = std::max(conv.low, *op.limits.low);
        conv.high = std::min(conv.high, *op.limits.high);
    }
    return true;
}

std::optional<CodeConv> codeConvShape(const Emitter &emitter, const plan::PlanNode &node,
                                      const ops::FusedProduct &op, const Int8Product &product)
{
    const auto window = ops::makeWindow(op.conv->kernel, op.conv->stride, op.conv->dilate, op.conv->pad);
    const kernels::TensorDesc &from = emitter.desc(node.inputs[0]);
    const kernels::TensorDesc &to = emitter.desc(node.outputs[0]);
    const auto isOne = [](std::int64_t step) { return step == 1; };
    CodeConv conv;
    if (!window.ok() || !std::ranges::all_of(window.value().dilate, isOne) || !setLimits(op, conv))
        return std::nullopt;
    conv.pictures = from.shape[0];
    conv.channels = from.shape[1];
    conv.outputs = to.shape[1];
    for (std::size_t k = 0; k < 2; ++k) {
        conv.from[k] = from.shape[2 + k];
        conv.to[k] = to.shape[2 + k];
        conv.kernel[k] = window.value().kernel[k];
        conv.stride[k] = window.value().stride[k];
        conv.pad[k] = window.value().padBegin[k];
    }
    conv.isSigned = from.dtype == tensor::DType::I8;
    conv.givesSigned = to.dtype == tensor::DType::I8;
    conv.rowWidth = conv.outputs;
    for (const float step : product.weightSteps)
        conv.factors.push_back(double{step} / product.dataScale);
    conv.bias.assign(product.bias.begin(), product.bias.end());
    conv.givesReals = op.realOutput;
    conv.codes = op.realOutput ? 1 : product.resultScale;
    return conv;
}

/// The data: as codes, or, where it may, the float32 of which the kernel makes them.
Result<Place> dataOf(Emitter &emitter, plan::ValueId value, CodeConv &conv, bool mayBeReal)
{
    if (mayBeReal && emitter.isPostponed(value) && emitter.uses().hasOneReader(value)) {
        const plan::PlanNode &quantize = emitter.graph().nodes[emitter.uses().producer[value]];
        HALFTONE_TRY(conv.planeCodes, resultScale(emitter, quantize));
        return emitter.read(quantize.inputs[0]);
    }
    const Type type = conv.isSigned ? Type::s8 : Type::u8;
    return emitter.readAs(value, codeLayout(dimsOf(emitter.desc(value).shape), type));
}

/// The result's place, in a concatenation where there is one.
Place resultOf(Emitter &emitter, plan::ValueId value, const std::optional<Joint> &joint, CodeConv &conv)
{
    const Dims dims = dimsOf(emitter.desc(value).shape);
    const Type type = conv.givesReals ? Type::f32 : conv.givesSigned ? Type::s8 : Type::u8;
    if (joint) {
        const Dims whole = dimsOf(emitter.desc(joint->whole).shape);
        const Desc strided(dims, type, {whole[1] * whole[2] * whole[3], 1, whole[1] * whole[3], whole[1]});
        if (const auto place = emitter.writePart(value, strided, joint->whole, codeLayout(whole, type),
                                                 static_cast<std::size_t>(joint->channel))) {
            conv.rowWidth = whole[1];
            return *place;
        }
    }
    return emitter.write(value, codeLayout(dims, type));
}

} // namespace

Result<bool> lowerCodeConv(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op,
                           const Int8Product &product)
{
    const bool isPaired = !addsExactly(); // then nothing of oneDNN's is as fast
    if (!emitter.mayUseOwnConvolutions() || multipliesTiles() || !isPlainEnough(op, product, isPaired)
        || !(isPaired ? hasPairProducts() : hasWideVectors()))
        return false;
    const std::optional<Joint> joint = jointOf(emitter, node.outputs[0]);
    std::optional<CodeConv> conv = codeConvShape(emitter, node, op, product);
    if (!conv || (isPaired ? !fitsPairSums(*conv) : !joint && !isShort(*conv)))
        return false;
    std::optional<Place> addend;
    if (op.hasSum) {
        const plan::ValueId value = node.inputs[op.addend()];
        const auto type = dnnlType(emitter.desc(value).dtype);
        if (joint || (type != Type::s8 && type != Type::u8))
            return false;
        HALFTONE_TRY(
            const double scale,
            codeScale(emitter, value, node.inputs[op.addendEnds()], node.inputs[op.addendEnds() + 1]));
        conv->addendStep = 1 / scale;
        conv->hasSignedAddend = type == Type::s8;
        HALFTONE_TRY(addend, emitter.readAs(value, codeLayout(dimsOf(emitter.desc(value).shape), *type)));
    }
    HALFTONE_TRY(const Place data, dataOf(emitter, node.inputs[0], *conv, !isPaired));
    const auto codes = product.codes.values<std::int8_t>();
    const char *const form = isPaired ? "pairs" : conv->isSigned ? "codes signed" : "codes";
    HALFTONE_TRY(const Place weights, emitter.constant(product.codes, form, plainDesc({1}, Type::s8), [&] {
        return isPaired ? packPairWeights(*conv, codes) : packCodeWeights(*conv, codes);
    }));
    std::vector<BufferId> inputs{data.buffer, weights.buffer};
    if (addend)
        inputs.push_back(addend->buffer);
    const Place result = addend ? emitter.writeOver(node.outputs[0],
                                                    codeLayout(dimsOf(emitter.desc(node.outputs[0]).shape),
                                                               conv->givesSigned ? Type::s8 : Type::u8),
                                                    node.inputs[op.addend()], *addend)
                                : resultOf(emitter, node.outputs[0], joint, *conv);
    std::vector<BufferId> outputs{result.buffer};
    if (const std::size_t bytes = isPaired ? pairBytes(*conv) : conv->paddedBytes(); bytes > 0)
        outputs.push_back(emitter.temporary(plainDesc({static_cast<std::int64_t>(bytes)}, Type::u8)).buffer);
    auto kernel = isPaired ? pairConvKernel(*std::move(conv), 0) : codeConvKernel(*std::move(conv), 0);
    emitter.addKernel(std::move(kernel), std::move(inputs), std::move(outputs));
    return true;
}

} // namespace halftone::backends::onednn
