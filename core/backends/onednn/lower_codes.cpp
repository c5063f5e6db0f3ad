#include "core/backends/onednn/code_window.h"
#include "core/backends/onednn/coded_post_ops.h"
#include "core/backends/onednn/int8_scales.h"
#include "core/backends/onednn/loops/code_kernel.h"
#include "core/backends/onednn/loops/table_kernel.h"
#include "core/plan/coded_values.h"

#include <algorithm>
#include <array>
#include <cmath>

/// Chains on codes by scales and zero points, as one primitive each.
namespace halftone::backends::onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;
using ops::CodedChain;

/// How a chain's product is scaled, and what is done behind it.
struct ChainSetting
{
    CodedPostOps post;
    dnnl::primitive_attr attributes;
    std::vector<float> steps; ///< by output channel, or one
    std::vector<float> bias; ///< by output channel; empty: none
    std::int32_t dataZero = 0; ///< that the primitive takes off the data; else the bias has it
};

std::vector<float> heldFloats(const Emitter &emitter, plan::ValueId value)
{
    return emitter.graph().values[value].constant->values<float>();
}

/// The weight's codes summed by output channel.
std::vector<double> weightSums(const Emitter &emitter, const plan::PlanNode &node, const CodedChain &chain)
{
    const tensor::Tensor &weight = *emitter.graph().values[node.inputs[1]].constant;
    const std::vector<std::int8_t> codes = weight.values<std::int8_t>();
    const bool lastCounts = chain.product == CodedChain::Product::Matrix && !chain.transposesWeight;
    const auto channels = static_cast<std::size_t>(weight.shape()[lastCounts ? 1 : 0]);
    const std::size_t depth = codes.size() / std::max<std::size_t>(channels, 1);
    std::vector<double> sums(channels);
    for (std::size_t k = 0; k < codes.size(); ++k)
        sums[lastCounts ? k % channels : k / depth] += codes[k];
    return sums;
}

bool isZero(const Dims &dims)
{
    return std::ranges::all_of(dims, [](std::int64_t dim) { return dim == 0; });
}

/// Steps and bias behind the post-operations' own factor and offset.
void scaleProduct(ChainSetting &setting, const Emitter &emitter, const plan::PlanNode &node,
                  const CodedChain &chain, bool zeroInBias)
{
    const auto [factor, offset] = setting.post.takeLeading();
    const auto stepOf = [&](std::size_t c) {
        return chain.data.step * double{chain.weightSteps[chain.weightSteps.size() == 1 ? 0 : c]};
    };
    for (std::size_t c = 0; c < chain.weightSteps.size(); ++c)
        setting.steps.push_back(static_cast<float>(stepOf(c) * factor));
    const bool takesZero = zeroInBias && chain.data.zero != 0;
    if (!chain.hasBias && !takesZero && offset == 0)
        return;
    const std::vector<double> sums = weightSums(emitter, node, chain);
    const std::vector<float> given
        = chain.hasBias ? heldFloats(emitter, node.inputs[2]) : std::vector<float>();
    for (std::size_t c = 0; c < sums.size(); ++c) {
        double bias = given.empty() ? 0 : double{given[c]};
        if (takesZero)
            bias -= chain.data.zero * sums[c] * stepOf(c);
        setting.bias.push_back(static_cast<float>(bias * factor + offset));
    }
}

/// weightMask  of scales by output channel
Result<ChainSetting> settingOf(Emitter &emitter, const plan::PlanNode &node, const CodedChain &chain,
                               const Desc &result, bool zeroInBias, int weightMask, bool mayOverwrite)
{
    ChainSetting setting;
    HALFTONE_CHECK(setting.post.take(emitter, node, chain, result, mayOverwrite));
    scaleProduct(setting, emitter, node, chain, zeroInBias);
    setting.attributes = setting.post.attributes();
    setting.attributes.set_scales_mask(DNNL_ARG_WEIGHTS, setting.steps.size() == 1 ? 0 : weightMask);
    if (!zeroInBias && chain.data.zero != 0) {
        setting.dataZero = chain.data.zero;
        setting.attributes.set_zero_points_mask(DNNL_ARG_SRC, 0);
    }
    return setting;
}

/// biasDims  empty: as many as there are output channels
Result<void> addSettings(Emitter &emitter, const ChainSetting &setting, const Dims &biasDims,
                         Program::Arguments &arguments)
{
    HALFTONE_TRY(const Place steps, floats(emitter, setting.steps));
    arguments.emplace_back(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, steps);
    if (!setting.bias.empty()) {
        HALFTONE_TRY(Place bias, floats(emitter, setting.bias));
        if (!biasDims.empty())
            bias.desc = plainDesc(biasDims, Type::f32);
        arguments.emplace_back(DNNL_ARG_BIAS, bias);
    }
    if (setting.dataZero != 0) {
        HALFTONE_TRY(const Place zero, wholes(emitter, setting.dataZero));
        arguments.emplace_back(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, zero);
    }
    const Program::Arguments more = setting.post.arguments();
    arguments.insert(arguments.end(), more.begin(), more.end());
    return {};
}

Place chainResult(Emitter &emitter, plan::ValueId value, const Desc &desc, const CodedPostOps &post)
{
    if (!post.sum())
        return emitter.write(value, desc);
    Place place{desc, post.sum()->buffer};
    emitter.replace(value, place);
    return place;
}

struct WindowChoice
{
    dnnl::convolution_forward::primitive_desc descriptor{nullptr};
    ChainSetting setting;
};

Result<WindowChoice> chooseWindow(Emitter &emitter, const plan::PlanNode &node, const CodedChain &chain)
{
    HALFTONE_TRY(const WindowShape shape, windowShape(emitter, node, chain.conv));
    const bool isUnpadded = isZero(shape.padBegin) && isZero(shape.padEnd);
    const int mask = chain.conv.groups > 1 ? 3 : 1;
    const Desc from = codeLayout(shape.from, shape.source);
    const Desc to = codeLayout(shape.to, shape.result);
    for (const bool mayOverwrite : {true, false}) {
        WindowChoice choice;
        HALFTONE_TRY(choice.setting, settingOf(emitter, node, chain, to, isUnpadded, mask, mayOverwrite));
        choice.descriptor
            = describeWindow(shape, from, to, !choice.setting.bias.empty(), choice.setting.attributes);
        if (choice.descriptor && !isUnhurried(choice.descriptor.impl_info_str()))
            return choice;
        if (!choice.setting.post.sum())
            break;
    }
    return unsupported("plan", "oneDNN has no fast convolution of codes for these shapes");
}

Result<void> lowerCodedWindow(Emitter &emitter, const plan::PlanNode &node, const CodedChain &chain)
{
    HALFTONE_TRY(const WindowChoice choice, chooseWindow(emitter, node, chain));
    const auto &descriptor = choice.descriptor;
    HALFTONE_TRY(const Place source, emitter.readAs(node.inputs[0], descriptor.src_desc()));
    const Desc weightDesc = descriptor.weights_desc();
    HALFTONE_TRY(const Place weights,
                 emitter.constant(*emitter.graph().values[node.inputs[1]].constant,
                                  plainDesc(weightDesc.get_dims(), Type::s8), weightDesc));
    Program::Arguments arguments{{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}};
    HALFTONE_CHECK(addSettings(emitter, choice.setting, {}, arguments));
    arguments.emplace_back(DNNL_ARG_DST,
                           chainResult(emitter, node.outputs[0], descriptor.dst_desc(), choice.setting.post));
    HALFTONE_TRY(const dnnl::convolution_forward primitive,
                 attempt(node.members[0], [&] { return dnnl::convolution_forward(descriptor); }));
    emitter.add(primitive, descriptor.impl_info_str(), std::move(arguments), descriptor.scratchpad_desc());
    return {};
}

Result<void> lowerCodedMatrix(Emitter &emitter, const plan::PlanNode &node, const CodedChain &chain)
{
    const tensor::Shape &data = emitter.desc(node.inputs[0]).shape;
    const tensor::Shape &weight = emitter.desc(node.inputs[1]).shape;
    const auto sourceType = dnnlType(emitter.desc(node.inputs[0]).dtype);
    const auto resultType = dnnlType(emitter.desc(node.outputs[0]).dtype);
    if (!sourceType || !resultType || data.elementCount() == 0)
        return unsupported("plan", "no product of codes that oneDNN has");
    const std::int64_t depth = weight[chain.transposesWeight ? 1 : 0];
    const std::int64_t columns = weight[chain.transposesWeight ? 0 : 1];
    const std::int64_t rows = *data.elementCount() / depth;
    Desc stored = plainDesc(dimsOf(weight), Type::s8);
    if (chain.transposesWeight)
        stored = stored.permute_axes({1, 0});
    const Desc from = plainDesc({rows, depth}, *sourceType);
    const Desc to = plainDesc({rows, columns}, *resultType);
    HALFTONE_TRY(const ChainSetting setting, settingOf(emitter, node, chain, to, true, 2, true));
    const Desc bias = setting.bias.empty() ? Desc() : plainDesc({1, columns}, Type::f32);
    const dnnl::matmul::primitive_desc descriptor(cpu(), from, Desc({depth, columns}, Type::s8, Tag::any),
                                                  bias, to, setting.attributes, true);
    if (!descriptor)
        return unsupported("plan", "oneDNN has no product of codes for these types");
    HALFTONE_TRY(const Place source, emitter.readAs(node.inputs[0], from));
    HALFTONE_TRY(const Place weights,
                 emitter.constant(*emitter.graph().values[node.inputs[1]].constant, stored,
                                  descriptor.weights_desc()));
    Program::Arguments arguments{{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}};
    HALFTONE_CHECK(addSettings(emitter, setting, {1, columns}, arguments));
    const Desc given = plainDesc(dimsOf(emitter.desc(node.outputs[0]).shape), *resultType);
    Place result = chainResult(emitter, node.outputs[0], given, setting.post);
    result.desc = to;
    arguments.emplace_back(DNNL_ARG_DST, result);
    HALFTONE_TRY(const dnnl::matmul primitive,
                 attempt(node.members[0], [&] { return dnnl::matmul(descriptor); }));
    emitter.add(primitive, descriptor.impl_info_str(), std::move(arguments), descriptor.scratchpad_desc());
    return {};
}

/// One code through all the steps.
std::uint8_t throughSteps(const CodedChain &chain, std::uint8_t code)
{
    const auto codeOf = [](const ops::CodeScale &scale, double real) {
        const auto step = static_cast<float>(scale.step);
        return std::clamp(double{std::nearbyint(static_cast<float>(real) / step)} + scale.zero, scale.least(),
                          scale.most());
    };
    const auto realOf = [](const ops::CodeScale &scale, double value) {
        return double{static_cast<float>(value - scale.zero) * static_cast<float>(scale.step)};
    };
    const bool isSigned = chain.data.type == tensor::DType::I8;
    double real = realOf(chain.data, isSigned ? static_cast<std::int8_t>(code) : code);
    for (const ops::CodedStep &step : chain.steps)
        real = step.kind == ops::CodedStep::Kind::Recode ? realOf(step.scale, codeOf(step.scale, real))
                                                         : ops::valueOf(step.function, real);
    return static_cast<std::uint8_t>(static_cast<std::int32_t>(codeOf(*chain.result, real)));
}

Result<void> lowerCodedTable(Emitter &emitter, const plan::PlanNode &node, const CodedChain &chain)
{
    std::array<std::uint8_t, 256> table{};
    for (std::size_t code = 0; code < table.size(); ++code)
        table[code] = throughSteps(chain, static_cast<std::uint8_t>(code));
    HALFTONE_TRY(const Place source, emitter.read(node.inputs[0]));
    const Desc desc = withType(source.desc, *dnnlType(chain.result->type));
    const Place result = emitter.write(node.outputs[0], desc);
    emitter.addKernel(tableKernel(desc.get_size(), table), {source.buffer}, {result.buffer});
    return {};
}

/// A sum of codes with what follows it.
Result<void> lowerCodedSum(Emitter &emitter, const plan::PlanNode &node, const CodedChain &chain)
{
    CodedChain rest = chain;
    const ops::CodeScale second = chain.steps.front().scale;
    rest.steps.erase(rest.steps.begin());
    const Dims dims = dimsOf(emitter.desc(node.outputs[0]).shape);
    const auto resultType = dnnlType(emitter.desc(node.outputs[0]).dtype);
    if (!resultType)
        return unsupported("plan", "a type that oneDNN lacks");
    HALFTONE_TRY(const Place first, emitter.read(node.inputs[0]));
    const Desc result = sumLayout(first.desc, dims, *resultType);
    CodedPostOps post;
    post.linear(1, -chain.data.zero * chain.data.step - second.zero * second.step);
    HALFTONE_CHECK(post.take(emitter, node, rest, result, false));
    const auto [factor, offset] = post.takeLeading();
    post.leadWith(offset);
    std::array<Addend, 2> addends;
    for (std::size_t k = 0; k < 2; ++k) {
        const auto type = dnnlType(emitter.desc(node.inputs[k]).dtype);
        HALFTONE_TRY(addends[k].codes, emitter.readAs(node.inputs[k], codeLayout(dims, *type)));
        addends[k].step = (k == 0 ? chain.data.step : second.step) * factor;
    }
    return addCodes(emitter, node, addends, result, post.attributes());
}

} // namespace

Result<void> lowerCodedChain(Emitter &emitter, const plan::PlanNode &node, const ops::CodedChain &chain)
{
    if (chain.product != CodedChain::Product::None && !addsExactly())
        return unsupported("plan", "this processor adds products of codes in 16 bits, which may saturate");
    if (chain.product == CodedChain::Product::Window)
        return lowerCodedWindow(emitter, node, chain);
    if (chain.product == CodedChain::Product::Matrix)
        return lowerCodedMatrix(emitter, node, chain);
    return node.inputs.size() > 1 ? lowerCodedSum(emitter, node, chain)
                                  : lowerCodedTable(emitter, node, chain);
}

Result<void> lowerQuantizeLinear(Emitter &emitter, const plan::PlanNode &node, const ops::QuantizeLinear &)
{
    const auto scale = plan::codeScaleOf(emitter.graph(), node);
    if (!scale)
        return unsupported("plan", "codes of several scales, or of one that only a run tells");
    HALFTONE_TRY(const Place given, emitter.read(node.inputs[0]));
    const Dims dims = dimsOf(emitter.desc(node.outputs[0]).shape);
    if (given.desc.get_dims() != dims || emitter.isPartOfConcat(node.outputs[0]))
        return unsupported("plan", "codes of another view of a tensor");
    const Desc layout = feedsWindow(emitter, node.outputs[0]) ? codeLayout(dims, Type::f32)
                                                              : sumLayout(given.desc, dims, Type::f32);
    HALFTONE_TRY(const Place source, emitter.readAs(node.inputs[0], layout));
    const Place result = emitter.write(node.outputs[0], withType(layout, *dnnlType(scale->type)));
    emitter.addKernel(
        codeKernel(static_cast<std::size_t>(*emitter.desc(node.outputs[0]).shape.elementCount()), *scale),
        {source.buffer}, {result.buffer});
    return {};
}

Result<void> lowerDequantizeLinear(Emitter &emitter, const plan::PlanNode &node,
                                   const ops::DequantizeLinear &)
{
    const auto scale = plan::codeScaleOf(emitter.graph(), node);
    if (!scale)
        return unsupported("plan", "codes of several scales, or of one that only a run tells");
    HALFTONE_TRY(const Place source, emitter.read(node.inputs[0]));
    if (!emitter.isPartOfConcat(node.outputs[0])) {
        emitter.defer(node.outputs[0], source, scale->step, scale->zero);
        return {};
    }
    return rescale(emitter, node, source, emitter.write(node.outputs[0], withType(source.desc, Type::f32)),
                   scale->step, scale->zero);
}

} // namespace halftone::backends::onednn
