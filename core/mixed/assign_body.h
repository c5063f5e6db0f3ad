#pragma once

#include "core/mixed/convert_model.h"

namespace halftone::mixed {

/// What a policy decides for the nodes of a body of control flow, as it does for the graph around it; nothing is int8 there.
policy::Assignment assignBody(const graph::Graph &body, const policy::Policy &policy, const Decided &decided);

} // namespace halftone::mixed
