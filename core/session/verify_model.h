#pragma once

#include "core/mixed/type_census.h"
#include "core/session/session.h"

#include <map>
#include <string>

namespace halftone::session {

/// A model with the types that its operators compute in.
struct Census
{
    infer::TypedModel typed; ///< functions are taken apart
    mixed::TypeCensus census;
};

/// mixed::typeCensus() of the source. Shapes that values decide are found by a run on random values, unless that takes long loops or much
/// memory: costs then stay open, as they do without shapes. Where nothing says how many examples there are, it is one.
/// policy      what was wanted; null: nothing
/// inputTypes  of inputs, by name, where no policy says them
/// fails: BadInput for types that contradict each other, or what is wrong with the policy; Unsupported for a format for analysis; Cancelled
Result<Census> verifyModel(Session session, const policy::Policy *policy, const Progress &progress = {},
                           const std::map<std::string, tensor::DType> &inputTypes = {});

} // namespace halftone::session
