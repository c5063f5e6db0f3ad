#pragma once

#include "core/latency/plan_maker.h"
#include "core/mixed/type_census.h"
#include "core/session/session.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halftone::session {

/// What a model is held against.
struct VerifyRequest
{
    const policy::Policy *policy = nullptr; ///< what was wanted; null: nothing
    std::string backend{}; ///< a runtime whose types are told; empty: none
    tensor::DType precision = tensor::DType::Unknown; ///< of the runtime, as backends::planningBackend()
    std::map<std::string, tensor::DType> inputTypes{}; ///< of inputs, by name, where no policy says them
};

/// A model with the types that its operators compute in.
struct Census
{
    infer::TypedModel typed; ///< functions are taken apart
    mixed::TypeCensus census;
    std::optional<kernels::RuntimeFacts> runtime; ///< absent: none was asked
    std::vector<std::string> notes; ///< of Session::shapes()
};

/// mixed::typeCensus() of the source, with the types of a runtime (report::addRuntimeTypes()). Shapes that values decide are found by a run on
/// random values, unless that takes long loops or much memory: costs then stay open, as they do without shapes. Where nothing says how many
/// examples there are, it is one.
/// fails: BadInput for types that contradict each other, or what is wrong with the policy; BadCall for a backend that is no runtime; Unsupported
///        for a format for analysis, or a runtime that is not there; Cancelled
Result<Census> verifyModel(Session session, const VerifyRequest &request, const Progress &progress = {});

} // namespace halftone::session
