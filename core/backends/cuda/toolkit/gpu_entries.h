#pragma once

#include "core/backends/backend_entry.h"
#include "core/backends/cuda/gpu.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::backends::cuda {

/// A device in the table of backends: as it is, and with TF32 allowed.
/// missing  libraries that were not found, each with the loader's words; kernels of our own compute what they would
std::vector<BackendEntry> gpuEntries(std::string_view name, const std::shared_ptr<Gpu> &gpu,
                                     const std::vector<std::string> &missing);

} // namespace halftone::backends::cuda
