#pragma once

#include "core/kernels/backend.h"

#include <array>
#include <cstdint>
#include <memory>

namespace halftone::backends::onednn {

/// Each byte of input 0 becomes the one that `table` has for it.
std::unique_ptr<kernels::Kernel> tableKernel(std::size_t count, const std::array<std::uint8_t, 256> &table);

} // namespace halftone::backends::onednn
