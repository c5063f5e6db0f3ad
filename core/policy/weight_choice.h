#pragma once

#include "core/base/result.h"
#include "core/policy/weight_rule.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace halftone::policy {

/// How codes are chosen (core/quantize/RULES.md, W-methods).
enum class WeightMethod : std::uint8_t
{
    Nearest, ///< "rtn"
    LeastSquares, ///< "mse"
    Gptq ///< "gptq": needs data
};

/// How products of codes are written.
enum class WeightForm : std::uint8_t
{
    Pairs, ///< "qdq": the codes are decoded before the product
    Operators ///< "nbits": an operator multiplies with codes
};

inline constexpr std::array kWeightMethods{WeightMethod::Nearest, WeightMethod::LeastSquares,
                                           WeightMethod::Gptq};
inline constexpr std::array kWeightForms{WeightForm::Pairs, WeightForm::Operators};
inline constexpr std::string_view kUnchangedWeights = "none"; ///< in place of a format

std::string_view nameOf(WeightMethod method);
std::string_view nameOf(WeightForm form);
std::optional<WeightMethod> weightMethodNamed(std::string_view name);
std::optional<WeightForm> weightFormNamed(std::string_view name);

/// A format's name, or "none".
std::string formatText(const WeightRule &rule);
/// The inverse. fails: BadInput with what is there instead; where = `text`
Result<std::optional<tensor::WeightFormat>> weightFormatIn(std::string_view text);
/// FORMAT or TARGET=FORMAT, split at the last "=". fails: as weightFormatIn()
Result<WeightRule> weightRuleIn(std::string_view text);

} // namespace halftone::policy
