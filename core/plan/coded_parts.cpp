#include "core/plan/coded_parts.h"

#include <utility>

namespace halftone::plan {
namespace {

using tensor::DType;

/// Where QLinearConv and QLinearMatMul have each side's codes; scale and zero point follow.
constexpr std::size_t kData = 0;
constexpr std::size_t kWeight = 3;
constexpr std::size_t kResultScale = 6;

PlanNode decoded(PlanGraph &graph, const PlanNode &product, std::size_t side, std::int64_t axis)
{
    const ValueId codes = product.inputs[side];
    const ValueId real
        = graph.addValue({DType::F32, graph.desc(codes).shape}, std::string(graph.values[codes].name));
    return {ops::DequantizeLinear{.axis = axis, .hasZeroPoint = true},   product.opName, product.members,
            {codes, product.inputs[side + 1], product.inputs[side + 2]}, {real},         {}};
}

/// By output channel.
std::int64_t weightAxis(const PlanNode &product)
{
    return product.op.is<ops::CodedConv>() ? 0 : 1;
}

ops::Operator inFloat(const PlanNode &product, bool hasBias)
{
    const auto *conv = product.op.getIf<ops::CodedConv>();
    if (conv == nullptr)
        return ops::MatMul{.form = ops::MatMul::Form::Stretched};
    ops::Conv wide = conv->conv;
    wide.hasBias = hasBias;
    return wide;
}

} // namespace

std::vector<PlanNode> floatParts(PlanGraph &graph, const PlanNode &product, ValueId bias)
{
    std::vector<PlanNode> parts{decoded(graph, product, kData, 0),
                                decoded(graph, product, kWeight, weightAxis(product))};
    const ValueId result = product.outputs[0];
    const ValueId real
        = graph.addValue({DType::F32, graph.desc(result).shape}, std::string(graph.values[result].name));
    std::vector<ValueId> inputs{parts[0].outputs[0], parts[1].outputs[0]};
    if (bias != kNoValue)
        inputs.push_back(bias);
    parts.push_back(
        {inFloat(product, bias != kNoValue), product.opName, product.members, std::move(inputs), {real}, {}});
    parts.push_back({ops::QuantizeLinear{.axis = 0, .hasZeroPoint = true},
                     product.opName,
                     product.members,
                     {real, product.inputs[kResultScale], product.inputs[kResultScale + 1]},
                     {result},
                     {}});
    return parts;
}

} // namespace halftone::plan
