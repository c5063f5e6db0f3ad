#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/policy/policy.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace halftone::policy {

/// The list an operator stands in. An operator stands in one of the first three, or may have conditional
/// rules, or is neutral. Int8 is a list over the others: an operator in it keeps its place, which holds where it cannot be
/// quantized.
enum class List : std::uint8_t
{
    Target,
    Fp32,
    Widest,
    Conditional,
    Neutral,
    Int8
};

std::string_view nameOf(List list); ///< "target_dtype_ops", "int8_ops", …: as policy files call it

/// Something worth telling that does not stop the conversion unless `strict` makes it an error.
struct Warning
{
    std::string entry; ///< the policy entry it is about: `excluded_sym_names: "conv9"`
    std::string text; ///< what is the matter, with the nearest existing name
    std::string_view code{}; ///< the kind, for scripts: "clamped"; empty: none. Lives as long as the program
    std::vector<std::string> nodes{}; ///< or parameters that it is about, where it has a code
};

/// Who put an operator where it stands.
enum class Origin : std::uint8_t
{
    BuiltIn,
    Given, ///< a list of the policy
    Added, ///< a condition of its own
    Moved
};

/// A policy checked against the operators of a dialect: lists complete, canonical operator names, nothing twice.
struct Rules
{
    tensor::DType target = tensor::DType::F16;
    /// Where only a built-in list names a fused operator, what is fused in it decides. MXNet 1.9.1 lists those of its own backend as
    /// neutral or float32 whatever they hold.
    bool bodiesDecide = false;

    struct Place
    {
        List list = List::Neutral;
        std::string entry; ///< as written: "FullyConnected", "Softmax (alias of SoftmaxOutput)"
        Origin origin = Origin::BuiltIn;
        /// The same for people: "built-in float16 1.9.1", "policy", "added", "moved". It lives as long as the program.
        std::string_view source;
    };
    /// By canonical operator name. Operators that are absent are neutral ("in no list"). An operator has
    /// List::Conditional exactly when `conditions` has rules for it.
    std::unordered_map<std::string, Place> places;
    /// Operators to be quantized, by canonical name, whatever their place.
    std::unordered_map<std::string, Place> int8;
    /// By canonical operator name; values as written.
    std::unordered_map<std::string, std::vector<ConditionalRule>> conditions;
};

/// Resolves `policy` against the built-in lists (core/mixed/RULES.md, section 1). Each error and
/// warning names the entry and the nearest existing name.
/// - A list that is given replaces the built-in one. An operator may stand in one of target, fp32 and
///   conditional, given or built-in; widest is an ordinary list, and there a given list beats a built-in one,
///   in both directions (D-widest-locked).
/// - An alias in a given list counts as the operator that it means, with a warning (D-alias-lists). In a
///   built-in list it places nothing: the reference never matches it, and a few contradict their operator's
///   own entry (`_add` neutral, elemwise_add widest). An alias in a given list that the built-in list of that
///   key has too counts only when its operator stands nowhere by its own name, so that a pasted built-in list
///   means what it means in the reference.
/// - An unknown operator in a given list is an error, unless some built-in list names it (operators of later
///   versions): then it is matched as text, with a warning when the built-in list of that key lacks it.
/// - addedConditions join the conditional rules; last, each move takes its operator out of wherever it
/// stands,
///   its conditions included.
/// - An operator of int8_ops without an int8 form (hasInt8Form) has no effect and a warning.
///
/// fails: Errc::BadInput for an operator in two lists, an unknown operator, a bad conditional rule, a bad
/// target type, an override to another type than float32, int8 or the target, a target operator without inputs, a
/// widest operator without inputs or one that writes to its inputs.
Result<Rules> resolve(const Policy &policy, const dialect::Dialect &dialect, std::vector<Warning> &warnings);

/// Which nodes of a graph the policy's excluded_sym_names and node_overrides name, by NodeId.
struct NamedNodes
{
    std::unordered_map<graph::NodeId, std::string> excluded; ///< the name or pattern as written
    std::unordered_map<graph::NodeId, tensor::DType> overrides;
    std::unordered_map<graph::NodeId, std::string>
        overridingPatterns{}; ///< as written, of those that a pattern overrides
};

/// Looks the policy's names up. A node whose very name is "/…/" is meant by it before the text is taken as a
/// pattern (core/policy/pattern.h). An override of a node's own name beats those by patterns; of patterns with different types the
/// first in the order of their text applies, with a warning. Warns, with near names, of names that match nothing, and of variables:
/// excluding one keeps no operator in float32, and an override is not applied there. Needs a policy that
/// resolve() accepts. Linear in nodes, for patterns also in the length of names × pattern.
///
/// fails: Errc::BadInput for a bad or empty pattern, with the place in it.
Result<NamedNodes> matchNames(const Policy &policy, const graph::Graph &graph,
                              std::vector<Warning> &warnings);

} // namespace halftone::policy
