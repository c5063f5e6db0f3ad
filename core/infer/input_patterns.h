#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/policy/policy.h"

namespace halftone::infer {

/// Puts the inputs that they match in the place of patterns among the names of `policy.inputDtypes`. Inputs are variables that no parameter
/// holds; one that is named by itself keeps the type given there.
/// fails: BadInput for a malformed pattern, or one that no input matches (Field::InputType)
Result<void> expandInputTypes(const graph::Model &model, policy::Policy &policy);

} // namespace halftone::infer
