#pragma once

#include "core/base/result.h"
#include "core/kernels/backend.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace halftone::backends::onednn {

/// Where an operator on codes reads ranges that are only known at run time.
std::vector<std::size_t> openRanges(const kernels::Operation &operation);

/// A kernel of an operator on codes whose ranges come with them: a program is made for those that come first, and again when
/// others come, which for calibrated ones is never.
/// ranges    openRanges(), not empty
/// threads   0: as many as there are cores
/// fallback  computes with ranges that oneDNN cannot count in
/// fails     Unsupported where oneDNN has no primitive for it, or where weights are only known at run time
Result<std::unique_ptr<kernels::Kernel>> rangedKernel(const kernels::Operation &operation,
                                                      std::vector<std::size_t> ranges, int threads,
                                                      const kernels::Backend &fallback);

} // namespace halftone::backends::onednn
