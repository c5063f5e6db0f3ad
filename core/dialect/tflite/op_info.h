#pragma once

#include "core/dialect/op_info.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The operators of TensorFlow Lite and their options as data (resources/tflite/operators.json, made from LiteRT's own schema).
/// The first call parses the table, from whichever thread; after that everything is read-only.
namespace halftone::dialect::tflite {

struct Slot
{
    std::string name;
    bool isOptional = false;
};

struct OpInfo final : dialect::OpInfo
{
    int code = 0; ///< BuiltinOperator
    std::vector<Slot> inputs; ///< empty: any number

    std::optional<std::size_t> inputCount(const graph::Attributes &) const override { return std::nullopt; }
    bool mayHaveInputs() const override { return true; }
    std::string inputName(const graph::Attributes &attributes, std::size_t input) const override;
    SlotRole slotRole(const graph::Attributes &attributes, std::size_t input) const override;
    bool isMutableInput(std::size_t) const override { return false; }
    bool hasMutableInputs() const override { return false; }
    std::size_t outputCount(const graph::Attributes &attributes) const override;
    std::size_t visibleOutputCount(const graph::Attributes &attributes) const override;
    std::string outputName(const graph::Attributes &attributes, std::size_t output) const override;
    std::string suffixOf(const graph::Attributes &attributes, std::size_t output) const override;
    /// The types of outputs are written in the file (kTypesKey).
    ops::TypeRule typeRule(const graph::Attributes &attributes) const override;
    bool mayMerge() const override;
};

enum class FieldKind : std::uint8_t
{
    Bool,
    Int8,
    UInt8,
    Int32,
    UInt32,
    Int64,
    Float32,
    Int32List,
    Int64List,
    Float32List,
    Text
};

/// A field of a table of options.
struct OptionField
{
    std::string name; ///< as an attribute: "stride_w"
    std::uint16_t place = 0; ///< in the table, counted from 0
    FieldKind kind = FieldKind::Int32;
    std::string defaultValue;
    const std::map<std::int64_t, std::string> *names = nullptr; ///< of its values; null: they are numbers
};

/// The fields of the options with that tag of BuiltinOptions (`unionNumber` 1) or BuiltinOptions2 (2); empty for an unknown one.
std::span<const OptionField> optionsOf(int unionNumber, int tag);

/// The operator with that code; null: unknown.
const OpInfo *operatorOfCode(int code);
const OpInfo *operatorNamed(std::string_view name);
std::span<const dialect::OpInfo *const> allOperators(); ///< by name

} // namespace halftone::dialect::tflite
