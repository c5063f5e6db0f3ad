#pragma once

#include "core/base/result.h"
#include "core/kernels/backend.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halftone::backends {

/// What is computed with where nobody names a backend.
inline constexpr std::string_view kDefaultBackend = "cpu";

/// What this build and machine have of one backend.
struct BackendInfo
{
    std::string name; ///< as callers choose it by
    std::string device; ///< "x86-64 with AVX-512, 2 threads"
    bool available = false;
    bool makesPlans = false; ///< latency can be measured on it
    std::vector<std::pair<tensor::DType, kernels::Support>>
        dtypes; ///< float32, bfloat16, float16, int8, uint8, float64
    std::string why; ///< what computes what, or why it is absent
    std::string architecture = {}; ///< as BackendEntry::architecture
    std::optional<double> bandwidth = {}; ///< as BackendEntry::bandwidth

    kernels::Support support(tensor::DType type) const; ///< No for a type that is not told
};

/// All that the command line knows, available or not.
std::vector<BackendInfo> allBackends();

/// Names as a help text lists them: "cpu (default), reference or cuda".
std::string backendNames();
/// Of those on which latency can be measured.
std::string planningBackendNames();

/// Whose results are given where a framework's own are not what its operators say.
enum class Arithmetic : std::uint8_t
{
    Defined, ///< those that the operators define
    Mxnet ///< those of MXNet 1.9.1 on a CPU: see mxnetArithmetic()
};

std::string_view nameOf(Arithmetic arithmetic); ///< "defined", "mxnet": as callers choose it by
std::string_view meaningOf(Arithmetic arithmetic); ///< "as MXNet 1.9.1 computes on a CPU", …

/// The chain behind a name: what the first one has no kernel for, the next one computes.
/// threads      0: as many as the machine has
/// accumulator  F16 or BF16: products of 16-bit values are summed in it, see narrowSums()
/// fails: BadCall for an unknown name, Unsupported for one that this build or machine lacks.
Result<kernels::BackendChain> backendChain(std::string_view name, unsigned threads,
                                           Arithmetic arithmetic = Arithmetic::Defined,
                                           tensor::DType accumulator = tensor::DType::Unknown);

/// The backend behind a name, to make latency plans with; complete by itself.
/// threads  0: as many as the machine has
/// fails: as backendChain(); Unsupported for one that makes no plans.
Result<std::shared_ptr<const kernels::Backend>> planningBackend(std::string_view name, unsigned threads);

/// The name itself, or that of the default where it stands for no backend that makes plans.
std::string planningBackendFor(std::string_view name);

/// fails: as backendChain()
Result<BackendInfo> backendInfo(std::string_view name);

} // namespace halftone::backends
