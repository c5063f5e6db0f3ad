#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/infer/type_map.h"
#include "core/policy/policy.h"

#include <functional>

namespace halftone::infer {

/// The types of everything in a model whose data and parameters have those that classifyVariables() tells of them. What is wrong with
/// names in the policy is not told.
/// fails: as classifyVariables() and inferTypes()
Result<TypeMap> storedTypes(const graph::Model &model, const policy::Policy &policy = {});

/// The same of a graph alone. heldType: the type of a variable's value; Unknown for one without a value, whose declared type counts
/// fails: as dialect::Dialect::declaredType() and inferTypes()
Result<TypeMap> storedTypes(const graph::Graph &graph,
                            const std::function<tensor::DType(graph::NodeId)> &heldType);

} // namespace halftone::infer
