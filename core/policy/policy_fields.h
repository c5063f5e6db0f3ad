#pragma once

#include "core/base/field.h"
#include "core/policy/policy.h"
#include "core/policy/rules.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace halftone::policy {

/// One key of policy files and where its value lies in a Policy: reader and writer share the table.
struct PolicyField
{
    using Names = std::optional<std::vector<std::string>> Policy::*;
    using PlainNames = std::vector<std::string> Policy::*;
    using Conditions = std::optional<std::vector<ConditionalRule>> Policy::*;
    using PlainConditions = std::vector<ConditionalRule> Policy::*;
    using Types = std::map<std::string, tensor::DType> Policy::*;
    using Texts = std::map<std::string, std::string> Policy::*;
    using Flag = std::optional<bool> Policy::*;
    using Moves = std::vector<Policy::Move> Policy::*;
    using Thresholds = std::map<std::string, ThresholdChoice> Policy::*;
    using Weights = std::vector<WeightRule> Policy::*;
    /// A text with a few allowed values; null when a value is none of them. `get` gives "" for the default.
    struct Word
    {
        bool (*set)(Policy &policy, std::string_view word);
        std::string_view (*get)(const Policy &policy);
        std::string_view allowed; ///< for errors
        std::string_view (*listed)() = nullptr; ///< instead, where the build decides

        std::string_view allowedWords() const { return listed != nullptr ? listed() : allowed; }
    };

    std::string_view key;
    std::variant<Word, Names, PlainNames, Conditions, PlainConditions, Types, Texts, Flag, Moves, Thresholds,
                 Weights>
        member;
};

/// In the order in which they are written.
std::span<const PolicyField> policyFields();

/// "1.9.1, 2.0.0b1 or master"
std::string alternatives(std::span<const std::string_view> words);

/// The list that a move goes to.
List listOf(Policy::Move::To to);
/// The setting that asks for such a move.
Field fieldOf(Policy::Move::To to);

} // namespace halftone::policy
