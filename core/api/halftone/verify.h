#pragma once

#include "halftone/open.h"
#include "halftone/policy.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace halftone::api {

/// An operator that does not compute as a policy asks.
struct TypeDifference
{
    std::string node;
    std::string op;
    Type requested = Type::Unknown;
    Type computes = Type::Unknown;
    std::string entry; ///< of the policy; empty: a rule
    std::string why; ///< what in the graph makes it so
};

struct Verification
{
    std::size_t operators = 0; ///< with those in bodies of control flow, without casts
    std::size_t requested = 0; ///< operators that the policy asks a type of
    std::vector<TypeDifference> differences;
    std::string report; ///< as JSON: what `verify --json` prints, with shares of operations and bytes by type
};

struct VerifyOptions
{
    std::string
        backend; ///< also reports the types that this runtime computes in, and where they differ from the model's; empty: none
    std::optional<Type> precision; ///< as Compute::precision
};

/// Tells which types the operators of a model compute in, whatever tool has converted it, and how that differs from a policy.
/// policy  absent: only the types
/// fails: BadInput for an invalid policy or contradicting types; BadCall for a backend that is no runtime; Unsupported for a target of compare(),
///        or a runtime that is not there; Cancelled
Result<Verification> verify(const Model &model, const std::optional<Policy> &policy = {},
                            const VerifyOptions &options = {}, const Progress &progress = {});

} // namespace halftone::api
