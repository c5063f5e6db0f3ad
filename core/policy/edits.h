#pragma once

#include "core/base/result.h"
#include "core/policy/policy.h"
#include "core/policy/rules.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What a person does to a policy, one value an edit. An edit makes a new policy; going back means taking the old one.
namespace halftone::policy {

/// Operators to another list, whole operator classes at once; with List::Neutral out of all lists. Not List::Conditional:
/// that needs an attribute (SetConditions). List::Int8 lies over the others: an operator keeps its place when it comes, and
/// leaves for any other list.
struct MoveOperators
{
    std::vector<std::string> ops; ///< canonical names
    List to = List::Fp32;
};

/// The conditional rules of one operator, in place of those it has; none: it leaves the conditional list.
struct SetConditions
{
    std::string op;
    std::vector<ConditionalRule> rules;
};

struct ExcludeNames
{
    std::vector<std::string> names; ///< of nodes, or patterns written /…/
};

struct IncludeNames
{
    std::vector<std::string> names; ///< as excluded_sym_names has them
};

/// Single nodes to float32, int8 or the target type whatever the lists say; nothing: as the lists say.
struct OverrideNodes
{
    std::vector<std::string> nodes; ///< names, or patterns written /…/
    std::optional<tensor::DType> type;
};

struct SetTarget
{
    tensor::DType target = tensor::DType::F16;
};

struct SetMode
{
    Mode mode = Mode::Typed;
};

struct SetListVersion
{
    std::string version;
};

struct SetCastParams
{
    bool on = false;
};

/// How the int8 codes of tensors are scaled; nothing: as the policy's method says.
struct SetThresholds
{
    std::vector<std::string> tensors; ///< as CalibratedTensor::name
    std::optional<ThresholdChoice> choice;
};

struct SetThresholdMethod
{
    ThresholdMethod method = kDefaultThresholdMethod;
};

/// Another policy altogether, such as one read from a file, or the built-in one.
struct ReplacePolicy
{
    Policy policy;
    std::string what; ///< for the undo text: "Load tuned.json"
};

using Edit
    = std::variant<MoveOperators, SetConditions, ExcludeNames, IncludeNames, OverrideNodes, SetTarget,
                   SetMode, SetListVersion, SetCastParams, SetThresholds, SetThresholdMethod, ReplacePolicy>;

/// `policy` as it is after the edit. Names that are there already are not added twice.
/// fails: BadInput for an edit that resolve() would refuse, such as an unknown operator; for an operator without an int8
/// form in int8_ops; for a threshold that is not above 0.
Result<Policy> applyEdit(const Policy &policy, const Edit &edit, const dialect::Dialect &dialect);

/// For menus and the undo list: "Convolution to fp32", "Exclude 3 nodes".
std::string describe(const Edit &edit);

} // namespace halftone::policy
