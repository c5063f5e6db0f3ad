#pragma once

#include "core/kernels/backend.h"

#include <functional>
#include <memory>
#include <optional>

namespace halftone::backends::onednn {

/// How many rows of a batch are computed at a time where all at once would take much memory beside inputs and output: those of a
/// convolution are reordered into blocks and back, and those of a type that is emulated are widened. The regions of a detector are a batch
/// of hundreds. Nothing: all.
std::optional<std::size_t> rowsAtATime(const kernels::Operation &operation);

/// Makes a kernel of an operation. fails: as Backend::prepare()
using Prepare = std::function<Result<std::unique_ptr<kernels::Kernel>>(const kernels::Operation &)>;

/// The operation as slices of so many rows of its inputs that have them and of its first output. Needs: rowsAtATime(). fails: as `prepare`
Result<std::unique_ptr<kernels::Kernel>> slicedKernel(const kernels::Operation &operation, std::size_t rows,
                                                      const Prepare &prepare);

} // namespace halftone::backends::onednn
