#pragma once

#include "core/base/result.h"
#include "core/dialect/mxnet/op_slots.h"
#include "core/dialect/op_info.h"
#include "core/graph/attributes.h"
#include "core/ops/type_rule.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// MXNet 1.9.1's operators as data (resources/mxnet/operators.json, probed from the real MXNet). The first
/// call parses the table, from whichever thread; after that everything is read-only.
namespace halftone::dialect::mxnet {

using dialect::AttributeSpec;
using dialect::AttributeType;

struct OpInfo final : dialect::OpInfo
{
    Slots inputs;
    Slots outputs;
    std::vector<TypeVariant> types; ///< the first one whose conditions hold
    std::optional<std::size_t> typeAttribute; ///< the attribute that D stands for in type rules

    // The functions below, for those who don't know which format it is.
    std::optional<std::size_t> inputCount(const graph::Attributes &attributes) const override;
    bool mayHaveInputs() const override;
    std::string inputName(const graph::Attributes &attributes, std::size_t input) const override;
    SlotRole slotRole(const graph::Attributes &attributes, std::size_t input) const override;
    bool isMutableInput(std::size_t input) const override;
    bool hasMutableInputs() const override;
    std::size_t outputCount(const graph::Attributes &attributes) const override;
    std::size_t visibleOutputCount(const graph::Attributes &attributes) const override;
    std::string outputName(const graph::Attributes &attributes, std::size_t output) const override;
    std::string suffixOf(const graph::Attributes &attributes, std::size_t output) const override;
    ops::TypeRule typeRule(const graph::Attributes &attributes) const override;
    bool mayMerge() const override;
};

/// The operator of that canonical name or alias; null when MXNet has none. O(1).
const OpInfo *findOp(std::string_view name);
/// All of them, by canonical name.
std::span<const OpInfo> allOps();

/// The value of an attribute, written or default; empty when the operator has no such attribute.
std::string_view attributeValue(const OpInfo &op, const graph::Attributes &attributes, std::string_view key);
/// True when two texts mean the same value of this attribute: 2 and 2.0, (2,2) and [2, 2], True and 1. Texts
/// that are no value of the attribute's type are compared as text.
bool sameValue(const AttributeSpec &spec, std::string_view a, std::string_view b);

/// Checks a node's attributes as MXNet does when it loads one: unknown keys (hidden ones are free, and an operator without
/// attributes takes any), missing
/// required ones, values that don't read as their type. `where` of the error is the attribute's name; it
/// lists what exists, nearest first.
Result<void> checkAttributes(const OpInfo &op, const graph::Attributes &attributes);

/// No operator is believed to have more outputs than this, whatever its attributes say.
inline constexpr std::size_t kMaxOutputs = 65536;

/// Number of inputs that the attributes ask for (no_bias, num_args, use_sequence_length, act_type=prelu …);
/// nothing when it cannot be told. Control flow: without the bodies, as symbol JSON counts.
std::optional<std::size_t> inputCount(const OpInfo &op, const graph::Attributes &attributes);
/// False for those that have none whatever their attributes say (_zeros, _arange).
bool mayHaveInputs(const OpInfo &op);
/// "data", "weight", …; "arg0", "arg1", … for variadic operators.
std::string inputName(const OpInfo &op, const graph::Attributes &attributes, std::size_t input);
/// Aux states (BatchNorm's moving mean and variance): inputs that the operator writes.
bool isMutableInput(const OpInfo &op, std::size_t input);
bool hasMutableInputs(const OpInfo &op);
/// Outputs with the hidden ones (BatchNorm 3), and those that a user sees (BatchNorm 1). At least one.
std::size_t outputCount(const OpInfo &op, const graph::Attributes &attributes);
std::size_t visibleOutputCount(const OpInfo &op, const graph::Attributes &attributes);
/// The name of an output as MXNet lists it: "output", "output0", "mean", …
std::string outputName(const OpInfo &op, const graph::Attributes &attributes, std::size_t output);
/// What MXNet's AMP puts between a node's name and "_amp_cast_…": "_output", "_0"
/// (core/mixed/RULES.md, M-names).
std::string castSuffix(const OpInfo &op, const graph::Attributes &attributes, std::size_t output);

/// MXNet's FInferType for this node. Parsed once per operator; what is left is to pick by attributes and to
/// copy a few words. An attribute that should name a type and does not leaves that type open.
ops::TypeRule typeRule(const OpInfo &op, const graph::Attributes &attributes);

} // namespace halftone::dialect::mxnet
