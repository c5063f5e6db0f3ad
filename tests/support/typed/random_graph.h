#pragma once

#include "core/graph/model.h"
#include "core/policy/policy.h"

#include <cstdint>

namespace halftone::test {

/// What the properties of mode typed are checked on: a model and how it is to be converted.
struct TypedCase
{
    graph::Model model;
    policy::Policy policy;
};

/// A small well-typed MXNet model with a policy for it; the same seed gives the same case everywhere. Shapes are real
/// and small. There are chains, branches and joins of operators of every list; data of float32, float16, float64 and
/// int32; shared parameters, auxiliary states, several outputs, integer and variable heads, a tensor that is two heads,
/// equal nodes in equal and other words, control dependencies, casts of the source, float16 regions, bodies of loops,
/// unknown operators and names that inserted casts would like to have. The policy moves operators between lists, or
/// replaces the lists; excludes nodes, variables and patterns; adds conditions and overrides; asks for stored parameters.
TypedCase randomCase(std::uint64_t seed);

} // namespace halftone::test
