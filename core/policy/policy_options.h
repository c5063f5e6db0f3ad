#pragma once

#include "core/base/result.h"
#include "core/policy/policy.h"

#include <string>
#include <string_view>
#include <vector>

/// Single settings as a person writes them (app/README.md, "Policy"), each adding to a policy that a file may
/// have begun. They fail with Errc::BadCall, naming the setting, and leave the policy as it was.
namespace halftone::policy {

/// float16 or bfloat16, also fp16, half, bf16; or a format for analysis.
Result<void> setTarget(Policy &policy, std::string_view text);
/// The name of one of offeredModes().
Result<void> setMode(Policy &policy, std::string_view text);
/// A version of built-in lists; the first of a format is its default, which a policy leaves out. Whether the model's format has another one
/// is found out later.
void setListVersion(Policy &policy, std::string_view version);
/// A name, "this" or a file; whether there is one is found out later.
Result<void> setHardware(Policy &policy, std::string_view text);
/// float32, float16 or bfloat16.
Result<void> setAccumulate(Policy &policy, std::string_view text);
Result<void> setOptimise(Policy &policy, std::string_view text);
/// The type that setAccumulate() would set; Unknown for an empty text.
Result<tensor::DType> accumulatorNamed(std::string_view text);

/// OP:ATTR=V1,V2: one more rule. Commas within brackets belong to the value:
/// `Pooling:kernel=(3, 3),(2, 2)`.
Result<void> addConditional(Policy &policy, std::string_view text);
/// NODE=DTYPE; split at the last "=", since node names may hold one. A later override of a node
/// wins.
Result<void> addOverride(Policy &policy, std::string_view text);
/// NAME=DTYPE, likewise.
Result<void> addInputDtype(Policy &policy, std::string_view text);
/// Needs no list that the operator is in.
Result<void> addMove(Policy &policy, std::string_view op, Policy::Move::To to);
/// NAME or /PATTERN/.
Result<void> addExcluded(Policy &policy, std::string_view name);

/// Formats of weights as a person writes them.
struct WeightTexts
{
    std::vector<std::string> rules; ///< [TARGET=]FORMAT; the last that matches wins
    std::string method; ///< empty: as it is
    std::string form; ///< likewise
};
/// Adds the rules behind those that are there. Fails also for a method or a form of a policy without rules.
Result<void> addWeights(Policy &policy, const WeightTexts &texts);

/// The target type, or a format for analysis. Needs: isHalf(type) or isForAnalysis(type)
void setTarget(Policy &policy, tensor::DType type);
/// What setTarget() was given.
tensor::DType askedTarget(const Policy &policy);
/// Why nothing is written of a policy with such a format.
Error notExported(tensor::DType format);

/// Adds an operator to those that compute in int8.
void addInt8(Policy &policy, const std::string &op);

} // namespace halftone::policy
