#pragma once

#include "core/dialect/converted_types.h"
#include "core/dialect/op_info.h"

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// ONNX's operators as data (resources/onnx/operators.json, made from ONNX's own schemas). The first call parses the table,
/// from whichever thread; after that everything is read-only.
namespace halftone::dialect::onnx {

/// The opsets of ai.onnx whose operators are read.
inline constexpr int kOldestOpset = 7;
inline constexpr int kNewestOpset = 26;

struct Slot
{
    std::string name;
    bool isOptional = false;
    bool isVariadic = false; ///< any number; the last one
};

/// An operator as it is from one opset on.
struct OpInfo final : dialect::OpInfo, dialect::ConvertedTypes
{
    int since = 1;
    bool isDeprecated = false;
    std::vector<Slot> inputs;
    std::vector<Slot> outputs;
    ops::TypeRule types = ops::TypeRule::parse("?... -> ?...");
    std::string typedBy; ///< the attribute that D stands for in `types`; empty: none
    bool isTypedLike = false; ///< where the attribute is not written, that is the type of the first input
    bool isTypedByTensor = false; ///< that attribute is a tensor, or one of Constant's
    ops::TypeRule like = types; ///< `types` where that attribute is not written and an input says it
    std::string typeText; ///< `types` as written
    std::optional<ops::TypeRule> converted; ///< what a conversion may choose, where that is less

    /// Inputs that must be there, and how many there may be at most.
    std::size_t leastInputs() const;
    std::size_t mostInputs() const;
    std::size_t mostOutputs() const;

    std::optional<std::size_t> inputCount(const graph::Attributes &attributes) const override;
    bool mayHaveInputs() const override { return !inputs.empty(); }
    std::string inputName(const graph::Attributes &attributes, std::size_t input) const override;
    SlotRole slotRole(const graph::Attributes &attributes, std::size_t input) const override;
    bool isMutableInput(std::size_t) const override { return false; }
    bool hasMutableInputs() const override { return false; }
    std::size_t outputCount(const graph::Attributes &attributes) const override;
    std::size_t visibleOutputCount(const graph::Attributes &attributes) const override;
    std::string outputName(const graph::Attributes &attributes, std::size_t output) const override;
    std::string suffixOf(const graph::Attributes &attributes, std::size_t output) const override;
    ops::TypeRule typeRule(const graph::Attributes &attributes) const override;
    bool mayMerge() const override;
    const ops::TypeRule *convertedTypes() const override { return converted ? &*converted : nullptr; }
};

/// The classes of an operator for lists, and why it has them; empty where nothing is said.
struct OpClass
{
    std::string float16;
    std::string bfloat16;
    std::string reason;
};

/// By name, what each operator is in that opset. Needs: kOldestOpset to kNewestOpset.
const std::unordered_map<std::string_view, const OpInfo *> &operatorsOf(int opset);
/// Of the canonical name; empty texts for an unknown operator.
const OpClass &classOf(std::string_view op);

} // namespace halftone::dialect::onnx
