#pragma once

#include "core/base/result.h"
#include "core/kernels/backend.h"

#include <memory>

namespace halftone::backends::onednn {

/// Does oneDNN's kernel make a number of NaN, or NaN of an infinity? In a plan that is timed it does not matter, but where
/// values are looked at it would hide what went wrong.
bool losesNaN(const kernels::Operation &operation);

/// Is it a softmax whose lines are NaN where one element is, and which oneDNN computes element by element instead?
bool spreadsNaN(const kernels::Operation &operation);

/// What `kernel` gives for such an operation, with NaN spread along its lines.
std::unique_ptr<kernels::Kernel> nanLines(const kernels::Operation &operation, int threads,
                                          std::unique_ptr<kernels::Kernel> kernel);

/// A loop of our own for a function of one element, or of two tensors of one shape, that does as little as a copy: faster
/// than a look at every element before oneDNN's. As the operator is defined, NaN included. Null for others.
/// threads  0: as many as there are cores
std::unique_ptr<kernels::Kernel> elementLoop(const kernels::Operation &operation, int threads);

/// `kernel` where all inputs are finite, else `fallback`.
std::unique_ptr<kernels::Kernel> finiteKernel(const kernels::Operation &operation, int threads,
                                              std::unique_ptr<kernels::Kernel> kernel,
                                              std::unique_ptr<kernels::Kernel> fallback);

} // namespace halftone::backends::onednn
