#include "core/backends/onednn/int8_products.h"

#include "core/kernels/coded_weights.h"

#include <algorithm>
#include <bit>

namespace halftone::backends::onednn {
namespace {

using dnnl::algorithm;

Result<std::shared_ptr<const kernels::CodedWeights>>
codedWeights(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op, double dataScale)
{
    std::vector<kernels::TensorDesc> descs;
    std::vector<std::vector<std::byte>> aligned(node.inputs.size());
    std::vector<const std::byte *> bytes;
    std::vector<tensor::Tensor> sources;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
        const plan::PlanValue &value = emitter.graph().values[node.inputs[k]];
        descs.push_back(value.desc);
        const bool isParameter = (k > 0 && k < op.ends() && !(op.hasSum && k == op.addend()))
            || (op.codedWeights && k >= op.weightEnds()) || (op.isPlain && k >= op.ends());
        if (isParameter && !value.constant)
            return unsupported("plan", "weights that are only known at run time");
        if (isParameter) {
            const auto stored = value.constant->bytes();
            aligned[k].assign(stored.begin(), stored.end());
            sources.push_back(*value.constant);
        }
        bytes.push_back(aligned[k].data());
    }
    const auto make = [&]() -> Result<std::shared_ptr<const kernels::CodedWeights>> {
        return std::make_shared<const kernels::CodedWeights>(
            kernels::codeWeights(op, descs, bytes, dataScale));
    };
    if (!emitter.cache())
        return make();
    return emitter.cache()->get<kernels::CodedWeights>(
        "int8 weights " + std::to_string(std::bit_cast<std::uint64_t>(dataScale)) + (op.norm ? " norm" : "")
            + (op.isPlain ? " plain" : ""),
        sources, make);
}

/// f(k·x) = k·f(x) for k > 0.
bool isHomogeneous(const Eltwise &function)
{
    return function.algorithm == algorithm::eltwise_relu;
}

/// Rounds to codes first, as two operators would, and goes on with these.
Int8Attributes afterRequantizing(const ops::FusedProduct &op, const std::optional<Eltwise> &function,
                                 double sumStep, dnnl::post_ops chain)
{
    const ops::Requantized &codes = *op.requantized;
    const bool isSigned = codes.type == tensor::DType::I8;
    const double step = codes.most / ops::codesOfData(codes.type);
    Int8Attributes made;
    made.attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    double low = isSigned ? -128 : 0;
    double high = isSigned ? 127 : 255;
    chain.append_eltwise(algorithm::eltwise_linear, static_cast<float>(codes.scale() * sumStep), 0);
    chain.append_eltwise(algorithm::eltwise_round, 0, 0);
    const bool isClip = function && function->algorithm == algorithm::eltwise_clip;
    const bool isRelu = function && function->algorithm == algorithm::eltwise_relu && function->alpha == 0;
    if (isClip) { // of codes as well
        high = std::clamp(function->beta / step, low, high);
        low = std::clamp(function->alpha / step, low, high);
    } else if (isRelu) {
        low = 0;
    }
    chain.append_eltwise(algorithm::eltwise_clip, static_cast<float>(low), static_cast<float>(high));
    const bool isLater = function && !isClip && !isRelu;
    if (isLater || op.realOutput)
        chain.append_eltwise(algorithm::eltwise_linear, static_cast<float>(step), 0);
    else
        made.resultUnit = step;
    if (isLater)
        chain.append_eltwise(function->algorithm, function->alpha, function->beta);
    made.attributes.set_post_ops(chain);
    return made;
}

} // namespace

Result<Int8Product> int8ProductOf(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op)
{
    const tensor::DType type = emitter.desc(node.outputs[0]).dtype;
    const bool isSum = type == tensor::DType::I32;
    if (isSum && !op.isPlain)
        return unsupported("plan", "sums of 32 bits, whose range is only known at run time");
    Int8Product product;
    product.hasResultScale = !op.realOutput && !isSum;
    HALFTONE_TRY(const Int8Ends ends,
                 codeEnds(emitter, node.inputs[0], node.inputs[op.ends()], node.inputs[op.ends() + 1]));
    product.dataScale = op.dataScale(emitter.desc(node.inputs[0]).dtype, ends.low, ends.high);
    if (product.hasResultScale) {
        HALFTONE_TRY(product.resultScale, resultScale(emitter, node));
    }
    HALFTONE_TRY(const std::shared_ptr<const kernels::CodedWeights> weights,
                 codedWeights(emitter, node, op, product.dataScale));
    if (op.isPlain) { // whole numbers, which float32 holds exactly up to 2^24
        product.bias.assign(weights->bias.begin(), weights->bias.end());
        product.sumStep = 1 / (product.dataScale * weights->scales[0]);
        if (op.keepsCodes(type))
            product.resultScale = op.requantized->scale() * product.sumStep;
    } else {
        for (const double scale : weights->scales)
            product.weightSteps.push_back(static_cast<float>(1 / scale));
        for (std::size_t c = 0; c < weights->bias.size(); ++c)
            product.bias.push_back(
                static_cast<float>(weights->bias[c] / (product.dataScale * weights->scaleOf(c))));
    }
    // Aliases the cache's bytes, so that what is packed from them is told by where they lie.
    const auto *const data = reinterpret_cast<const std::byte *>(weights->codes.data());
    product.codes = tensor::Tensor(tensor::DType::I8, emitter.desc(node.inputs[1]).shape,
                                   {data, weights->codes.size()}, weights);
    return product;
}

Result<Int8Attributes> int8AttributesOf(Emitter &emitter, const plan::PlanNode &node,
                                        const ops::FusedProduct &op, const Desc &result, double sumStep,
                                        const ProductForm &form)
{
    Int8Attributes made;
    made.attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    std::optional<Eltwise> function;
    if (op.activation)
        function = eltwiseOf(*op.activation);
    if (op.requantized && !op.keepsCodes(emitter.desc(node.outputs[0]).dtype))
        return afterRequantizing(op, function, sumStep, form.first);
    dnnl::post_ops chain = form.first;
    if (op.hasSum) {
        const plan::ValueId addend = node.inputs[op.addend()];
        HALFTONE_TRY(
            const double scale,
            codeScale(emitter, addend, node.inputs[op.addendEnds()], node.inputs[op.addendEnds() + 1]));
        const auto type = dnnlType(emitter.desc(addend).dtype);
        const auto layout = form.isReal ? result : withType(result, type.value_or(Type::undef));
        HALFTONE_TRY(const Place place, emitter.readAs(addend, layout));
        const bool fits = !form.isReal && layout.get_size() == result.get_size();
        if (fits && emitter.mayOverwrite(addend, place)) {
            chain.append_sum(static_cast<float>(1 / scale), 0, *type);
            made.sum = place;
        } else if (!function || isHomogeneous(*function)) {
            made.unit = made.resultUnit = 1 / scale; // oneDNN adds a tensor as it is
            made.arguments.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(chain.len()) | DNNL_ARG_SRC_1, place);
            chain.append_binary(algorithm::binary_add, place.desc);
        } else {
            return unsupported("plan", "a sum that cannot overwrite its addend, before this activation");
        }
    }
    if (op.limits.low && op.limits.high) { // cutting at 0 is ReLU already
        const bool isRelu
            = function && function->algorithm == algorithm::eltwise_relu && function->alpha == 0;
        if (function && !isRelu)
            chain.append_eltwise(function->algorithm, function->alpha, function->beta);
        const double low = isRelu ? std::max(*op.limits.low, 0.0) : *op.limits.low;
        chain.append_eltwise(algorithm::eltwise_clip, static_cast<float>(low / made.unit),
                             static_cast<float>(*op.limits.high / made.unit));
    } else if (function) {
        chain.append_eltwise(function->algorithm, function->alpha, function->beta);
    }
    if (op.realOutput && made.resultUnit != 1) {
        chain.append_eltwise(algorithm::eltwise_linear, static_cast<float>(made.resultUnit), 0);
        made.resultUnit = 1;
    }
    made.attributes.set_post_ops(chain);
    return made;
}

} // namespace halftone::backends::onednn
