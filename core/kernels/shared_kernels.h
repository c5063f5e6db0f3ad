#pragma once

#include "core/kernels/backend.h"

namespace halftone::kernels {

/// The chain, but what it prepares for equal operations, with the same constants in memory, is one kernel as long as anybody holds
/// it: models that have parameters and most nodes in common also have in common what kernels packed of them. For one thread at a time.
BackendChain withSharedKernels(const BackendChain &chain);

} // namespace halftone::kernels
