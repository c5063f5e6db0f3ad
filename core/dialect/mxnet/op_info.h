#pragma once

#include "core/base/result.h"
#include "core/dialect/mxnet/op_slots.h"
#include "core/graph/attributes.h"
#include "core/ops/type_rule.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// MXNet 1.9.1's operators as data (resources/mxnet/operators.json, probed from the real MXNet). The first
/// call parses the table, from whichever thread; after that everything is read-only.
namespace halftone::dialect::mxnet {

enum class AttributeType : std::uint8_t
{
    Integer,
    Real,
    Boolean,
    Tuple,
    RealTuple,
    Enum,
    Text
};

struct AttributeSpec
{
    std::string name;
    AttributeType type = AttributeType::Text;
    bool required = false;
    bool nullable = false; ///< "None" is a value
    bool elementsNullable = false; ///< of a Tuple: its elements may be None (slice's begin and end)
    std::string defaultValue; ///< as text; empty when required
    std::vector<std::string> values; ///< of an Enum
};

struct OpInfo
{
    std::string name; ///< canonical
    std::vector<std::string> aliases;
    std::vector<AttributeSpec> attributes; ///< sorted by name
    bool takesAnyAttribute
        = false; ///< attributes beyond the table are the operator's own business (Custom, fused subgraphs)

    // Behind the functions below.
    Slots inputs;
    Slots outputs;
    std::vector<TypeVariant> types; ///< the first one whose conditions hold
    std::optional<std::size_t> typeAttribute; ///< the attribute that D stands for in type rules

    const AttributeSpec *attribute(std::string_view key) const;
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
/// What MXNet's AMP puts between a node's name and "_amp_cast_…": "_output", "_0" (spec: amp-conversion,
/// section 3, Names).
std::string castSuffix(const OpInfo &op, const graph::Attributes &attributes, std::size_t output);

/// MXNet's FInferType for this node. Parsed once per operator; what is left is to pick by attributes and to
/// copy a few words. An attribute that should name a type and does not leaves that type open.
ops::TypeRule typeRule(const OpInfo &op, const graph::Attributes &attributes);

} // namespace halftone::dialect::mxnet
