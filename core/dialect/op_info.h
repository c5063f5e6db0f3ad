#pragma once

#include "core/graph/attributes.h"
#include "core/ops/type_rule.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::dialect {

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

/// What an input is to its operator.
enum class SlotRole : std::uint8_t
{
    Data,
    Weight,
    Bias, ///< is added: bias, beta
    Scale, ///< multiplies: gamma
    Mean,
    Variance,
    Label ///< read by a loss alone
};

/// An operator as a format declares it: made once, read by all threads. What depends on a node takes its attributes,
/// which count with their defaults where they are not written.
struct OpInfo
{
    virtual ~OpInfo() = default;

    std::string name; ///< canonical
    std::vector<std::string> aliases;
    std::vector<AttributeSpec> attributes; ///< sorted by name
    bool takesAnyAttribute
        = false; ///< attributes beyond the table are the operator's own business (Custom, fused subgraphs)

    /// Null when the operator has none of that name.
    const AttributeSpec *attribute(std::string_view key) const;
    /// Written or default; empty when the operator has no such attribute.
    std::string_view valueOf(const graph::Attributes &attributes, std::string_view key) const;

    /// Number of inputs that the attributes ask for; nothing when it cannot be told.
    virtual std::optional<std::size_t> inputCount(const graph::Attributes &attributes) const = 0;
    /// False for those that have none whatever their attributes say.
    virtual bool mayHaveInputs() const = 0;
    /// What the operator calls an input: "data", "weight", …
    virtual std::string inputName(const graph::Attributes &attributes, std::size_t input) const = 0;
    virtual SlotRole slotRole(const graph::Attributes &attributes, std::size_t input) const = 0;
    /// Inputs that the operator writes (BatchNorm's moving mean and variance).
    virtual bool isMutableInput(std::size_t input) const = 0;
    virtual bool hasMutableInputs() const = 0;
    /// Outputs with the hidden ones, and those that a user sees. At least one.
    virtual std::size_t outputCount(const graph::Attributes &attributes) const = 0;
    virtual std::size_t visibleOutputCount(const graph::Attributes &attributes) const = 0;
    /// "output", "output0", "mean", …
    virtual std::string outputName(const graph::Attributes &attributes, std::size_t output) const = 0;
    /// What stands between a node's name and that of something inserted behind this output: "_output", "_0".
    virtual std::string suffixOf(const graph::Attributes &attributes, std::size_t output) const = 0;
    /// How the types of inputs and outputs hang together. An attribute that should name a type and does not leaves that
    /// type open.
    virtual ops::TypeRule typeRule(const graph::Attributes &attributes) const = 0;
    /// May two equal nodes become one? Not when it draws random numbers, keeps state or writes to an input.
    virtual bool mayMerge() const = 0;

protected:
    OpInfo() = default;
    OpInfo(const OpInfo &) = default;
    OpInfo(OpInfo &&) = default;
    OpInfo &operator=(const OpInfo &) = default;
    OpInfo &operator=(OpInfo &&) = default;
};

} // namespace halftone::dialect
