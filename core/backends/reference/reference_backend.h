#pragma once

#include "core/runtime/backend.h"

#include <memory>

namespace halftone::runtime {

struct ReferenceOptions
{
    unsigned threads = 1;
    bool inDouble = false; ///< compute in double whatever the types are; results are rounded once at the end
};

/// The backend that is meant to be read: every operator as its definition says, for every element type. 16-bit inputs
/// are widened exactly, computed with in float32 and rounded once to the nearest, ties to even; operators on float64 and
/// on 32- and 64-bit integers compute in double (integers are exact up to 2^53). Right everywhere, fast nowhere.
/// An operator without a kernel is one that is computed elsewhere or that has no defined value: see kernels.h.
std::shared_ptr<const Backend> referenceBackend(const ReferenceOptions &options = {});

/// Is there a kernel for the operator? Attributes, types and shapes may still be refused.
bool hasReferenceKernel(const ops::Operator &op);

} // namespace halftone::runtime
