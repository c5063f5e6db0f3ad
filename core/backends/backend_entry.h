#pragma once

#include "core/kernels/backend.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::backends {

/// How a backend will be used.
struct BackendUse
{
    unsigned threads = 1;
    bool isTimed = false; ///< plans will be timed: waiting threads may spin
    std::shared_ptr<const kernels::Backend>
        fallback; ///< computes operators without a kernel of this backend; null: these are refused
    std::string variant{}; ///< behind the colon of "ort:CUDAExecutionProvider"; empty: the default
    tensor::DType precision
        = tensor::DType::Unknown; ///< to compute in, where BackendEntry::takesPrecision; Unknown: its default
};

/// A row of the table of backends, made by a function in the folder of the backend.
struct BackendEntry
{
    std::string name; ///< name for `--backend`
    std::string
        architecture{}; ///< description of its chip (resources/hardware), e.g. "sm_90"; empty: none, or that of the processor
    std::optional<double> bandwidth{}; ///< memory bandwidth, GB per second; absent: unknown
    std::string device; ///< "x86-64 with AVX-512, 2 threads"; empty if not available
    std::string why; ///< what computes, or why the backend is not available
    bool makesPlans = false; ///< Backend::plan() works
    bool isComplete = false; ///< computes every operator, so that no fallback is needed
    bool wholeModels = false; ///< plans only: it runs models, no single operators
    bool takesPrecision = false; ///< obeys BackendUse::precision
    std::string version{}; ///< of a runtime that was found, "1.22.0"; empty: this program's
    std::string file{}; ///< its library; empty: none
    /// What may stand behind a colon; it may start the runtime. Empty: there are no variants.
    std::function<Result<std::vector<std::string>>()> providers{};
    /// Empty if not available in this build or on this machine.
    std::function<std::shared_ptr<const kernels::Backend>(const BackendUse &)> make;
};

/// All known backends, available or not, the default first.
const std::vector<BackendEntry> &backendTable();

/// Adds those of a room above this one. The function is called once, not before the table is first read. Call from the initialiser of a
/// static object.
/// returns  true
bool addBackends(std::vector<BackendEntry> (*make)());

/// Adds a backend that a program links itself. Call from one thread before backends are used, e.g. in the initialiser of a static
/// object. An existing name is not replaced.
/// returns  whether it was added
bool addBackend(BackendEntry entry);

} // namespace halftone::backends
