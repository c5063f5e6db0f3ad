#pragma once

#include "core/backends/backends.h"
#include "core/base/result.h"
#include "core/hardware/description.h"

#include <memory>
#include <string>
#include <string_view>

namespace halftone::machines {

/// Sets the first GPU of a backend for hardware::findDescription(). The first call looks for it, which loads its driver. Safe from any
/// thread.
/// returns  its description; null if there is no GPU
std::shared_ptr<const hardware::Description> lookForGpu();

/// The backend that measures kThis or kThisGpu; empty: another name, or not available.
std::string availableBackend(std::string_view chip);

/// Like hardware::findDescription(), including the GPU of this machine.
Result<std::shared_ptr<const hardware::Description>> findChip(std::string_view nameOrFile);

/// The chip that a backend computes on, with the bandwidth of the board; null for processors.
std::shared_ptr<const hardware::Description> chipOf(const backends::BackendInfo &backend);

} // namespace halftone::machines
