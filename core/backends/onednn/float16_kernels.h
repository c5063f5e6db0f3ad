#pragma once

#include <oneapi/dnnl/dnnl.hpp>

namespace halftone::backends::onednn {

/// Has oneDNN kernels for float16 with these instructions: AVX512-FP16, or AMX-FP16, which comes with it?
bool offersFloat16(dnnl::cpu_isa isa);

/// Are convolutions and products in `type`, f16 or bf16, what float32 sums rounded once to it are, to one unit in the last place? Two small ones
/// are computed, with values at which a narrower accumulator shows. False also where oneDNN has no kernel for one of them.
bool matchesEmulation(dnnl::memory::data_type type);

/// Both, for float16 on this processor; found out once.
bool hasNativeFloat16();

} // namespace halftone::backends::onednn
