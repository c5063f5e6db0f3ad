#pragma once

#include "core/base/result.h"
#include "core/policy/policy.h"
#include "core/policy/rules.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::policy {

/// One of the built-in sets of lists of a dialect, names as it writes them (resources/oplists).
struct OpLists
{
    const dialect::Dialect *dialect = nullptr; ///< whose operators they name
    std::string source; ///< where they come from: "mxnet 1.9.1"
    std::string version; ///< as policies name it: "1.9.1", "2.0.0b1", "master"
    std::string label; ///< as reports call them: "built-in float16 1.9.1"
    tensor::DType targetType = tensor::DType::F16;
    std::vector<std::string> target;
    std::vector<std::string> fp32;
    std::vector<std::string> widest;
    std::vector<std::string> neutral; ///< MXNet's fp16_fp32_ops
    std::vector<ConditionalRule> conditional;

    /// The names of one list. Needs: a list that MXNet has and that is not List::Conditional.
    const std::vector<std::string> &names(List list) const;
    /// Does the list hold that very text (for Conditional: as a rule's operator)?
    bool holds(List list, std::string_view op) const;
};

/// An entry of a built-in list that no operator node can match, because it is another name of an operator
/// that stands elsewhere (D-alias-lists).
struct Contradiction
{
    std::string entry; ///< "_add"
    List list = List::Neutral; ///< where the entry stands
    std::string op; ///< "elemwise_add"
    List opList = List::Neutral; ///< where the operator itself stands
};

/// The built-in lists for a 16-bit type. Parsed on first use, only the file asked for; safe from any thread.
/// version  empty: the first of the format
/// fails: Errc::BadInput for another type or an unknown version (`expected` names those there are).
Result<const OpLists *> builtInLists(const dialect::Dialect &dialect, tensor::DType target,
                                     std::string_view version);

/// The self-contradictions of built-in lists, in file order.
std::vector<Contradiction> contradictions(const OpLists &lists);

} // namespace halftone::policy
