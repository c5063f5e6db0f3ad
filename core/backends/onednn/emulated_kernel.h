#pragma once

#include "core/base/result.h"
#include "core/kernels/backend.h"

#include <memory>
#include <optional>

namespace halftone::backends::onednn {

/// Does oneDNN compute in the type only in float32's stead on this processor?
bool isEmulated(tensor::DType type);

/// The operation with float32 in place of emulated types; nothing where it has none.
/// fails: NoMemory for its widened constants
Result<std::optional<kernels::Operation>> widened(const kernels::Operation &operation);

/// Computes by `wide`, the kernel of the widened operation, what comes and goes in 16 bits.
std::unique_ptr<kernels::Kernel> emulatedKernel(kernels::Operation operation,
                                                std::unique_ptr<kernels::Kernel> wide);

} // namespace halftone::backends::onednn
