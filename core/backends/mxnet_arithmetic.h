#pragma once

#include "core/kernels/backend.h"

#include <memory>

namespace halftone::backends {

/// In front of a chain: takes the operators of which MXNet 1.9.1 gives other numbers on a CPU than they say, and gives
/// these (dialect::Arithmetic). Everything else is left to the chain.
/// inner  computes what is then cut; not empty
std::shared_ptr<const kernels::Backend> mxnetArithmetic(kernels::BackendChain inner);

} // namespace halftone::backends
