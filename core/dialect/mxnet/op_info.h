#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/ops/type_rule.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// MXNet 1.9.1's operators as data (resources/mxnet/operators.json, probed from the real MXNet).
namespace halftone::dialect::mxnet {

enum class AttributeType : std::uint8_t { Integer, Real, Boolean, Tuple, RealTuple, Enum, Text };

struct AttributeSpec
{
    std::string name;
    AttributeType type = AttributeType::Text;
    bool required = false;
    bool nullable = false; ///< "None" is a value
    std::string defaultValue; ///< as text; empty when required
    std::vector<std::string> values; ///< of an Enum
};

struct OpInfo
{
    std::string name; ///< canonical
    std::vector<std::string> aliases;
    std::vector<AttributeSpec> attributes;
    // … arguments, aux states, output names, type rule: see the accessors below

    const AttributeSpec *attribute(std::string_view key) const;
};

/// The operator of that canonical name or alias; null when MXNet has none. O(1).
const OpInfo *findOp(std::string_view name);
/// All of them, by canonical name.
std::span<const OpInfo> allOps();

/// The value of an attribute, written or default; empty when the operator has no such attribute.
std::string_view attributeValue(const OpInfo &op, const graph::Attributes &attributes, std::string_view key);
/// True when two texts mean the same value of this attribute: 2 and 2.0, (2,2) and [2, 2], True and 1.
bool sameValue(const AttributeSpec &spec, std::string_view a, std::string_view b);

/// Number of inputs that the attributes ask for (no_bias, num_args, use_sequence_length, act_type=prelu …); nothing when it cannot be told.
std::optional<std::size_t> inputCount(const OpInfo &op, const graph::Attributes &attributes);
/// "data", "weight", …; "arg0", "arg1", … for variadic operators.
std::string inputName(const OpInfo &op, const graph::Attributes &attributes, std::size_t input);
/// Aux states (BatchNorm's moving mean and variance): inputs that the operator writes.
bool isMutableInput(const OpInfo &op, std::size_t input);
bool hasMutableInputs(const OpInfo &op);
/// Outputs with the hidden ones (BatchNorm 3), and those that a user sees (BatchNorm 1).
std::size_t outputCount(const OpInfo &op, const graph::Attributes &attributes);
std::size_t visibleOutputCount(const OpInfo &op, const graph::Attributes &attributes);
/// The name of an output as MXNet lists it: "output", "output0", "mean", …
std::string outputName(const OpInfo &op, const graph::Attributes &attributes, std::size_t output);
/// What MXNet's AMP puts between a node's name and "_amp_cast_…": "_output", "_0" (spec: amp-conversion, section 3, Names).
std::string castSuffix(const OpInfo &op, const graph::Attributes &attributes, std::size_t output);

/// MXNet's FInferType for this node. Cached where no attribute matters.
ops::TypeRule typeRule(const OpInfo &op, const graph::Attributes &attributes);

} // namespace halftone::dialect::mxnet
