#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/policy/policy.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace halftone::policy {

/// The list an operator stands in. An operator stands in one of the first three, or may have conditional rules, or is neutral.
enum class List : std::uint8_t { Target, Fp32, Widest, Conditional, Neutral };

std::string_view nameOf(List list); ///< "target_dtype_ops", "fp32_ops", …: as policy files call it

/// Something worth telling that does not stop the conversion unless `strict` makes it an error.
struct Warning
{
    std::string entry; ///< the policy entry it is about: `excluded_sym_names: "conv9"`
    std::string text; ///< what is the matter, with the nearest existing name
};

/// A policy checked against MXNet's operators: lists complete, canonical operator names, nothing twice.
struct Rules
{
    tensor::DType target = tensor::DType::F16;

    struct Place
    {
        List list = List::Neutral;
        std::string entry; ///< the list entry as written that put it there: "FullyConnected", "Softmax (alias of SoftmaxOutput)"
        std::string source; ///< "built-in float16 1.9.1", "policy", "--fp32-op"
    };
    /// By canonical operator name. Operators that are absent are neutral ("in no list").
    std::unordered_map<std::string, Place> places;
    /// By canonical operator name; values as written.
    std::unordered_map<std::string, std::vector<ConditionalRule>> conditions;
};

/// Resolves `policy` against the built-in lists. Errors and warnings: spec amp-conversion, section 6 (each names the entry and the nearest
/// existing name). fails: Errc::BadInput for an operator in two lists, an unknown operator, a bad conditional rule, a bad target type.
Result<Rules> resolve(const Policy &policy, std::vector<Warning> &warnings);

/// Which nodes of `graph` the policy's excluded_sym_names and node_overrides name; by NodeId, `entry` is the pattern or name as written.
struct NamedNodes
{
    std::unordered_map<graph::NodeId, std::string> excluded;
    std::unordered_map<graph::NodeId, tensor::DType> overrides;
};
/// Names that match nothing give a warning with near names; a bad pattern is an error with the place in it. Linear in names × pattern length.
Result<NamedNodes> matchNames(const Policy &policy, const graph::Graph &graph, std::vector<Warning> &warnings);

} // namespace halftone::policy
