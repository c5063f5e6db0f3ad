#pragma once

#include "core/base/result.h"
#include "core/kernels/backend.h"

#include <memory>

namespace halftone::backends::onednn {

class PackedWeights;

/// A program of one node, which reads and writes where the values are.
/// threads  0: as many as there are cores
/// packed   shares packed weights with other kernels; null: the weights are temporary, and nobody else has them
/// fails    Unsupported where oneDNN has no primitive for the operation in these types, float16 among them
Result<std::unique_ptr<kernels::Kernel>> nodeKernel(const kernels::Operation &operation, int threads,
                                                    PackedWeights *packed);

} // namespace halftone::backends::onednn
