#pragma once

#include <string>
#include <string_view>

namespace halftone::backends::cuda {

/// A kernel in CUDA C++ for one set of shapes, types and strides, with the launch that it was written for. It calls what
/// prelude() defines and takes device addresses: inputs, then outputs.
struct KernelText
{
    std::string name; ///< of the function: follows from its text, so that equal kernels are one
    std::string text;
    unsigned grid = 1; ///< blocks
    unsigned block = 1; ///< threads of each
    bool isCooperative = false; ///< the threads of a block wait for each other
    std::string label; ///< for reports: "elementwise", "softmax", …
};

/// Number types, conversions, sums over a block: what stands before the kernels of a module. It includes nothing, so that
/// NVRTC needs no headers on the machine where it runs.
std::string_view prelude();

/// Names the kernel by a hash of its text, in which @ stands for the name.
KernelText named(std::string text, std::string label);

} // namespace halftone::backends::cuda
