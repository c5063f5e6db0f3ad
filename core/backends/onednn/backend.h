#pragma once

#include "core/runtime/backend.h"
#include "core/runtime/fused_int8.h"

#include <memory>

namespace halftone::runtime::onednn {

/// What threads do between kernels: spin as OpenMP likes it, for the best time on an idle machine, or sleep soon.
enum class Waits
{
    Busy,
    Quiet
};

/// oneDNN's kernels, one operator at a time: float32 natively; bfloat16 where the processor has it and emulated
/// elsewhere; float16 emulated. Emulated means: inputs are widened, float32 computes, results are rounded to nearest
/// even.
/// threads   0: as many as there are cores
/// fallback  computes int8 operators whose ranges turn out at run time to be none that oneDNN counts in; without one,
///           operators whose ranges are not known ahead are refused
std::shared_ptr<const Backend> onednnBackend(int threads = 0, Waits waits = Waits::Busy,
                                             std::shared_ptr<const Backend> fallback = {});

/// One fused int8 node. fails: Unsupported where a parameter is no constant
Result<std::unique_ptr<Kernel>> fusedInt8Kernel(const FusedInt8 &op, const Operation &operation, int threads);

} // namespace halftone::runtime::onednn
