#pragma once

#include "core/backends/backend_entry.h"
#include "core/backends/cuda/emitter.h"

#include <memory>
#include <string_view>
#include <vector>

namespace halftone::backends::cuda {

/// An NVIDIA GPU: plans on the device, and single operators as plans of one node. float32 (TF32 only where it is allowed), float16
/// and bfloat16 with float32 sums, float64, products of codes of 8 bits.
/// fallback  computes what has no kernel on the device; null: such operators are refused
std::shared_ptr<const kernels::Backend> cudaBackend(std::shared_ptr<Gpu> gpu, EmitOptions options = {},
                                                    std::shared_ptr<const kernels::Backend> fallback = {});

/// The first GPU in the table of backends, or why there is none: looked for once, without touching it. Where it is there, a second
/// entry, NAME-tf32, is the same device with TF32 allowed.
std::vector<BackendEntry> backendEntries(std::string_view name);

} // namespace halftone::backends::cuda
