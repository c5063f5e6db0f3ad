#pragma once

#include "core/backends/backend_entry.h"
#include "core/kernels/backend.h"

#include <memory>
#include <string_view>

namespace halftone::backends::onednn {

/// What threads do between kernels: spin as OpenMP likes it, for the best time on an idle machine, or sleep soon.
enum class Waits
{
    Busy,
    Quiet
};

/// oneDNN's kernels, one operator at a time: float32 natively; bfloat16 where the processor has it and emulated
/// elsewhere; float16 emulated; int8 natively where the processor adds products of codes in 32 bits. Emulated means: inputs are widened, float32 computes, results are rounded to nearest
/// even.
/// threads   0: as many as there are cores
/// fallback  computes int8 operators whose ranges turn out at run time to be none that oneDNN counts in; without one,
///           operators whose ranges are not known ahead are refused
std::shared_ptr<const kernels::Backend> onednnBackend(int threads = 0, Waits waits = Waits::Busy,
                                                      std::shared_ptr<const kernels::Backend> fallback = {});

/// oneDNN in the table of backends.
BackendEntry backendEntry(std::string_view name);

} // namespace halftone::backends::onednn
