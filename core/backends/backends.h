#pragma once

#include "core/base/result.h"
#include "core/kernels/backend.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halftone::backends {

/// The default backend.
inline constexpr std::string_view kDefaultBackend = "cpu";

/// One backend as available in this build and on this machine.
struct BackendInfo
{
    std::string name; ///< name for selection
    std::string device; ///< "x86-64 with AVX-512, 2 threads"
    bool available = false;
    bool makesPlans = false; ///< latency can be measured on it
    std::vector<std::pair<tensor::DType, kernels::Support>>
        dtypes; ///< float32, bfloat16, float16, int8, uint8, float64
    std::string why; ///< what computes, or why the backend is missing
    std::string architecture = {}; ///< as BackendEntry::architecture
    std::optional<double> bandwidth = {}; ///< as BackendEntry::bandwidth
    bool wholeModels = false; ///< as BackendEntry::wholeModels
    std::string version = {}; ///< as BackendEntry::version
    std::string file = {}; ///< as BackendEntry::file

    kernels::Support support(tensor::DType type) const; ///< No for a type that is not listed
};

/// All known backends, available or not.
std::vector<BackendInfo> allBackends();

/// Names as a help text lists them: "cpu (default), reference or cuda".
std::string backendNames();
/// Likewise, only backends that can measure latency.
std::string planningBackendNames();

/// Which results to compute if those of a runtime differ from the definition of the operators.
enum class Arithmetic : std::uint8_t
{
    Defined, ///< the definition of the operators
    Runtime ///< the runtime of a format (dialect::Arithmetic), MXNet 1.9.1 on a CPU: see runtimeArithmetic()
};

/// Those of this build: Runtime is there if one of its formats has such a runtime.
std::span<const Arithmetic> allArithmetics();
std::string_view
nameOf(Arithmetic arithmetic); ///< "defined", or the name of that format, "mxnet": for selection
std::string meaningOf(Arithmetic arithmetic); ///< "as the operators are defined", "as MXNet 1.9.1 on a CPU"

/// The chain of backends for a name: operators without a kernel in one are passed to the next.
/// threads      0: one per core
/// accumulator  F16 or BF16: accumulator of 16-bit products, see narrowSums()
/// fails: BadCall for an unknown name, Unsupported for a backend that is not available or only runs whole models.
Result<kernels::BackendChain> backendChain(std::string_view name, unsigned threads,
                                           Arithmetic arithmetic = Arithmetic::Defined,
                                           tensor::DType accumulator = tensor::DType::Unknown);

/// The backend of a name for latency plans, including its fallback.
/// name       may name a variant of a backend behind a colon: "ort:CUDAExecutionProvider"
/// threads    0: one per core
/// precision  to compute in; Unknown: the backend's default
/// fails: BadCall for an unknown name, and for a precision of a backend that takes none; Unsupported for a backend that is not available
///        or has no plans
Result<std::shared_ptr<const kernels::Backend>>
planningBackend(std::string_view name, unsigned threads, tensor::DType precision = tensor::DType::Unknown);

/// What may stand behind the colon of a name; none for most. It may start a runtime.
/// fails: as backendChain(); errors of that start
Result<std::vector<std::string>> providersOf(std::string_view name);

/// The given name, or that of the default if it has no backend with plans.
std::string planningBackendFor(std::string_view name);

/// fails: as backendChain()
Result<BackendInfo> backendInfo(std::string_view name);

} // namespace halftone::backends
