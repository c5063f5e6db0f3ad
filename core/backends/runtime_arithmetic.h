#pragma once

#include "core/dialect/arithmetic.h"
#include "core/kernels/backend.h"

#include <memory>

namespace halftone::backends {

/// In front of a chain: takes the operators for which a runtime gives other numbers than they say, and gives these. Everything else is left to
/// the chain.
/// arithmetic  of the runtime; must outlive the backend
/// inner       computes what is then cut; not empty
std::shared_ptr<const kernels::Backend> runtimeArithmetic(const dialect::Arithmetic &arithmetic,
                                                          kernels::BackendChain inner);

} // namespace halftone::backends
