#pragma once

#include "core/graph/model.h"
#include "core/infer/type_map.h"
#include "core/policy/policy.h"

namespace halftone::session {

/// The element types of a model as it was loaded, its inputs having the types that the policy gives them; Unknown where they do not
/// follow from parameters and inputs.
infer::TypeMap sourceTypes(const graph::Model &source, const policy::Policy &policy);

} // namespace halftone::session
