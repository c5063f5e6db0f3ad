#pragma once

#include "core/backends/onednn/loops/code_conv.h"

/// Convolutions of codes for processors without VNNI. Their products of 8 bits (vpmaddubsw) add two in 16 bits and saturate; codes
/// that are widened to 16 bits first (vpmaddwd) are added in 32, which loses nothing.
namespace halftone::backends::onednn {

/// Has this processor what the kernel is compiled for, AVX2 and FMA?
bool hasPairProducts();

/// Can 32 bits hold every sum?
bool fitsPairSums(const CodeConv &conv);

/// Memory for the data with their padding, in 16 bits.
std::size_t pairBytes(const CodeConv &conv);

/// The weights as the kernel reads them.
/// weights  (outputs, channels, height, width)
/// fails    NoMemory
Result<std::shared_ptr<const Packed>> packPairWeights(const CodeConv &conv,
                                                      std::span<const std::int8_t> weights);

/// Inputs and outputs as those of codeConvKernel(); the memory is of pairBytes(). Data are codes (planeCodes 0).
/// needs    hasPairProducts(), fitsPairSums()
/// threads  0: as many as there are cores
std::unique_ptr<kernels::Kernel> pairConvKernel(CodeConv conv, int threads);

} // namespace halftone::backends::onednn
