#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/infer/type_map.h"
#include "core/policy/policy.h"

namespace halftone::infer {

/// The types of everything in a model whose data and parameters have those that classifyVariables() tells of them. What is wrong with
/// names in the policy is not told.
/// fails: as classifyVariables() and inferTypes()
Result<TypeMap> storedTypes(const graph::Model &model, const policy::Policy &policy = {});

} // namespace halftone::infer
