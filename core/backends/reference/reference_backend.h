#pragma once

#include "core/backends/backend_entry.h"
#include "core/kernels/backend.h"

#include <memory>
#include <string>
#include <string_view>

namespace halftone::backends::reference {

struct ReferenceOptions
{
    unsigned threads = 1;
    bool inDouble = false; ///< compute in double whatever the types are; results are rounded once at the end
};

/// The backend that is meant to be read: every operator as its definition says, for every element type. 16-bit inputs
/// are widened exactly, computed with in float32 and rounded once to the nearest, ties to even; operators on float64 and
/// on 32- and 64-bit integers compute in double (integers are exact up to 2^53). Right everywhere, fast nowhere.
/// An operator without a kernel is one that is computed elsewhere or that has no defined value: see kernels.h.
std::shared_ptr<const kernels::Backend> referenceBackend(const ReferenceOptions &options = {});

/// It in the table of backends.
BackendEntry backendEntry(std::string_view name, std::string why);

} // namespace halftone::backends::reference
