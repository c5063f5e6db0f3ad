#include "core/dialect/onnx/op_info.h"

#include "core/base/text.h"
#include "core/dialect/onnx/element_type.h"

#include <algorithm>
#include <array>
#include <limits>

namespace halftone::dialect::onnx {
namespace {

using tensor::DType;

std::size_t least(std::span<const Slot> slots)
{
    std::size_t count = slots.size();
    while (count > 0 && slots[count - 1].isOptional)
        --count;
    return count;
}

std::size_t most(std::span<const Slot> slots)
{
    return !slots.empty() && slots.back().isVariadic ? std::numeric_limits<std::size_t>::max() : slots.size();
}

std::string nameAt(std::span<const Slot> slots, std::size_t position, std::string_view otherwise)
{
    if (slots.empty())
        return std::string(otherwise) + std::to_string(position);
    const Slot &slot = slots[std::min(position, slots.size() - 1)];
    return slot.isVariadic ? slot.name + std::to_string(position + 1 - slots.size()) : slot.name;
}

/// What Constant's attributes other than a tensor hold, by name.
constexpr std::array<std::pair<std::string_view, DType>, 4> kConstantKinds{{{"value_float", DType::F32},
                                                                            {"value_floats", DType::F32},
                                                                            {"value_int", DType::I64},
                                                                            {"value_ints", DType::I64}}};

/// The reader tells of a tensor as "float32[2,3]".
DType typeInText(std::string_view text)
{
    return tensor::dtypeNamed(text.substr(0, text.find('['))).value_or(DType::Unknown);
}

} // namespace

std::size_t OpInfo::leastInputs() const
{
    return least(inputs);
}

std::size_t OpInfo::mostInputs() const
{
    return most(inputs);
}

std::size_t OpInfo::mostOutputs() const
{
    return most(outputs);
}

/// Optional ones may be absent, so that attributes ask for no number.
std::optional<std::size_t> OpInfo::inputCount(const graph::Attributes &) const
{
    return std::nullopt;
}

std::string OpInfo::inputName(const graph::Attributes &, std::size_t input) const
{
    return nameAt(inputs, input, "input");
}

SlotRole OpInfo::slotRole(const graph::Attributes &, std::size_t input) const
{
    if (input == 0 || inputs.empty())
        return SlotRole::Data;
    static constexpr std::array<std::pair<std::string_view, SlotRole>, 14> kRoles{
        {{"W", SlotRole::Weight},
         {"w", SlotRole::Weight},
         {"R", SlotRole::Weight},
         {"weight", SlotRole::Weight},
         {"B", SlotRole::Bias},
         {"bias", SlotRole::Bias},
         {"scale", SlotRole::Scale},
         {"Scale", SlotRole::Scale},
         {"mean", SlotRole::Mean},
         {"input_mean", SlotRole::Mean},
         {"var", SlotRole::Variance},
         {"input_var", SlotRole::Variance},
         {"slope", SlotRole::Weight},
         {"Bias", SlotRole::Bias}}};
    // The second factor of a product is called B as biases are.
    if (name == "MatMul" || name == "Gemm")
        return input == 1 ? SlotRole::Weight : SlotRole::Bias;
    const std::string slot = nameAt(inputs, input, "input");
    const auto *const found = std::ranges::find(kRoles, slot, &std::pair<std::string_view, SlotRole>::first);
    return found == kRoles.end() ? SlotRole::Data : found->second;
}

std::size_t OpInfo::outputCount(const graph::Attributes &) const
{
    return std::max<std::size_t>(least(outputs), 1);
}

std::size_t OpInfo::visibleOutputCount(const graph::Attributes &attributes) const
{
    return outputCount(attributes);
}

std::string OpInfo::outputName(const graph::Attributes &, std::size_t output) const
{
    return nameAt(outputs, output, "output");
}

std::string OpInfo::suffixOf(const graph::Attributes &attributes, std::size_t output) const
{
    return '_' + outputName(attributes, output);
}

/// Where no attribute says the type of a result, its scale does, or its zero point; without either it is uint8. Until opset 18
/// scales are float32, and until 22 what is quantized has the type of its scale.
ops::TypeRule OpInfo::typeRule(const graph::Attributes &attributes) const
{
    static const auto kWritten = ops::TypeRule::parse("-> D");
    static const auto kLikeScale = ops::TypeRule::parse("T, U{bfloat16|float16|float32}, T -> U");
    static const std::array kLikeZeroPoint{
        ops::TypeRule::parse("?{float32|int32}, float32, U=uint8{int8|uint8} -> U"),
        ops::TypeRule::parse("T{bfloat16|float16|float32|int32}, T, "
                             "U=uint8{float8_e4m3fn|float8_e5m2|int16|int4|int8|uint16|uint4|uint8} -> U"),
        ops::TypeRule::parse("?, ?, U=uint8{float4_e2m1fn|float8_e4m3fn|float8_e5m2|int16|int2|int4|int8|"
                             "uint16|uint2|uint4|uint8} -> U")};
    static const std::array kAsWritten{ops::TypeRule::parse("?{float32|int32}, float32, ? -> D"),
                                       ops::TypeRule::parse("T{bfloat16|float16|float32|int32}, T, ? -> D"),
                                       ops::TypeRule::parse("?, ?, ? -> D")};
    static const auto kDecodedAsWritten
        = ops::TypeRule::parse("T, ?{bfloat16|float16|float32|float8_e8m0fnu}, T -> D");
    constexpr int kOpsetOfScales = 19;
    constexpr int kOpsetOfOwnScales = 23;
    const std::size_t age = since < kOpsetOfScales ? 0 : since < kOpsetOfOwnScales ? 1 : 2;
    if (typedBy.empty())
        return types;
    if (name == "Constant") {
        for (const auto &[key, type] : kConstantKinds)
            if (attributes.find(key) != nullptr)
                return types.withAttributeType(type);
        if (const std::string *const sparse = attributes.find("sparse_value"))
            return types.withAttributeType(typeInText(*sparse));
    }
    const AttributeSpec *const spec = attribute(typedBy);
    const std::string *const written = attributes.find(typedBy);
    if (isTypedByTensor)
        return types.withAttributeType(written != nullptr              ? typeInText(*written)
                                           : name == "ConstantOfShape" ? DType::F32
                                                                       : DType::Unknown);
    const std::string_view text = written ? std::string_view(*written)
        : spec                            ? std::string_view(spec->defaultValue)
                                          : std::string_view();
    if (name == "Optional") // of nothing, whose type is written; else that of its value
        return written != nullptr && typeInText(*written) != DType::Unknown
            ? kWritten.withAttributeType(typeInText(*written))
            : types;
    if (written == nullptr && isTypedLike)
        return like;
    const std::int64_t code = parseInteger(text).value_or(0);
    if (code == 0 && name == "DequantizeLinear")
        return age == 0 ? types : kLikeScale;
    if (name == "DequantizeLinear")
        return kDecodedAsWritten.withAttributeType(dtypeOfCode(code).value_or(DType::Unknown));
    if (name == "QuantizeLinear")
        return code == 0 ? kLikeZeroPoint[age]
                         : kAsWritten[age].withAttributeType(dtypeOfCode(code).value_or(DType::Unknown));
    return types.withAttributeType(dtypeOfCode(code).value_or(DType::Unknown));
}

bool OpInfo::mayMerge() const
{
    static constexpr std::array<std::string_view, 7> kOwn{
        "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike",
        "Multinomial",  "Bernoulli",     "Dropout"};
    return std::ranges::find(kOwn, name) == kOwn.end();
}

} // namespace halftone::dialect::onnx
