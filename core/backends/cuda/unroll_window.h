#pragma once

#include "core/backends/cuda/spatial_text.h"

namespace halftone::backends::cuda {

/// What lies under each place of a window, as a row of a matrix: (N · places, taps · channels), the channels of a tap side by side, then
/// zeros to the matrix's width; a convolution is the product of it with the weights (Chellapilla et al., "High Performance Convolutional
/// Neural Networks for Document Processing", 2006).
/// op  data (N, C, H, W) in any order; its `result` says the places
/// to  dense, of floats
KernelText unrolledWindow(const SpatialText &op, const View &to);

} // namespace halftone::backends::cuda
