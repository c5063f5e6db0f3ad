#pragma once

#include "core/base/result.h"
#include "core/runtime/interpreter.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halftone::runtime {

/// What this build and machine have of one backend.
struct BackendInfo
{
    std::string name; ///< as `--backend` calls it
    std::string device; ///< "x86-64 with AVX-512, 2 threads"
    bool available = false;
    std::vector<std::pair<tensor::DType, Support>>
        dtypes; ///< float32, bfloat16, float16, int8, uint8, float64
    std::string why; ///< what computes what, or why it is absent
};

/// All that the command line knows, available or not.
std::vector<BackendInfo> allBackends();

/// The chain behind a name: what the first one has no kernel for, the next one computes.
/// fails: BadCall for an unknown name, Unsupported for one that this build or machine lacks.
Result<BackendChain> backendChain(std::string_view name, unsigned threads);

/// Threads that the machine runs at once.
unsigned machineThreads();

} // namespace halftone::runtime
