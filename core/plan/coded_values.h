#pragma once

#include "core/ops/op_coded.h"
#include "core/plan/plan_edit.h"

#include <cstdint>
#include <optional>
#include <vector>

/// What plans know of values that pass through QuantizeLinear and DequantizeLinear.
namespace halftone::plan {

/// Reals that are made of codes of 8 bits.
struct DecodedValue
{
    ValueId codes = kNoValue;
    ops::CodeScale scale;
    std::uint32_t node = kNoPlanNode; ///< the DequantizeLinear
};

constexpr bool isFloat8(tensor::DType type)
{
    return type == tensor::DType::F8E4M3FN || type == tensor::DType::F8E5M2;
}
/// Zero points of float8, all of them 0: ONNX gives them to say the type alone.
bool isFloat8Zero(const tensor::Tensor &zeros);

/// The scale that codes of `type` have by constant inputs; nothing where these are no single ones. zero: kNoValue for none
std::optional<ops::CodeScale> codeScaleAt(const PlanGraph &graph, tensor::DType type, ValueId scale,
                                          ValueId zero);

/// The scale of all codes that a QuantizeLinear makes or a DequantizeLinear reads; nothing where there are several, where it is not
/// constant, or where codes have other than 8 bits or reals are not float32.
std::optional<ops::CodeScale> codeScaleOf(const PlanGraph &graph, const PlanNode &node);

/// Nothing for a value that no DequantizeLinear with one constant scale gives.
std::optional<DecodedValue> decodedValue(const PlanGraph &graph, const PlanUses &uses, ValueId real);

/// Constant codes of a product's weight.
struct CodedWeight
{
    ValueId codes = kNoValue; ///< int8, symmetric
    std::vector<float> steps; ///< one, or one an output channel
};

/// Constant codes less their constant zero points, which are one or one a place of `axis`: `codes` themselves or a new constant.
/// zero   kNoValue for none
/// fails  nothing where they are not constant, or the differences do not fit int8
std::optional<ValueId> symmetricCodes(PlanGraph &graph, ValueId codes, ValueId zero, std::size_t axis);

/// The constant scale and zero point that inputs `scale` and `zero` of a node hold for a weight whose output channels `axis` counts.
/// codes made symmetric become a new constant of the graph. zero: kNoValue for none
/// fails  nothing where they are not constant, or codes less their zero point do not fit int8
std::optional<CodedWeight> codedWeight(PlanGraph &graph, ValueId codes, ValueId scale, ValueId zero,
                                       std::size_t axis);

/// The same of a DequantizeLinear that gives `real`.
std::optional<CodedWeight> decodedWeight(PlanGraph &graph, const PlanUses &uses, ValueId real,
                                         std::size_t axis);

/// The reals of a constant, also where they are codes that a DequantizeLinear reads: one a channel; nothing otherwise.
std::optional<std::vector<float>> constantReals(const PlanGraph &graph, const PlanUses &uses, ValueId value,
                                                std::size_t channels);

/// A constant's values, where these are whole numbers of 8 or 32 bits.
std::optional<std::vector<std::int32_t>> wholeNumbersAt(const PlanGraph &graph, ValueId value);

/// A constant vector of float32.
ValueId addVector(PlanGraph &graph, const std::vector<float> &values, const std::string &name);

} // namespace halftone::plan
