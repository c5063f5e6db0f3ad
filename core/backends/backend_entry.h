#pragma once

#include "core/kernels/backend.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::backends {

/// What a backend is made for.
struct BackendUse
{
    unsigned threads = 1;
    bool isTimed = false; ///< plans that are timed: threads that wait may spin
    std::shared_ptr<const kernels::Backend>
        fallback; ///< computes what the backend's own kernels do not; null: such operators are refused
};

/// A device as the table of backends knows it: each backend's folder has a function that makes its entry.
struct BackendEntry
{
    std::string name; ///< as `--backend` calls it
    std::string
        architecture{}; ///< the description of its chip (resources/hardware): "sm_90"; empty: none, or the processor's
    std::optional<double> bandwidth{}; ///< of that chip's memory, GB a second; nothing: it is not known
    std::string device; ///< "x86-64 with AVX-512, 2 threads"; empty where it is absent
    std::string why; ///< what computes what, or why it is absent
    bool makesPlans = false; ///< Backend::plan() works
    bool isComplete
        = false; ///< computes every operator that has a kernel anywhere: nobody is asked behind it
    /// Empty where this build or machine lacks it.
    std::function<std::shared_ptr<const kernels::Backend>(const BackendUse &)> make;
};

/// The devices that are known, available or not, the default first.
const std::vector<BackendEntry> &backendTable();

/// A device beside those of this build, for a program that links one of its own. For one thread, before anybody asks for
/// backends; a static object's initialiser will do. A name that is known already stays what it is.
/// returns  whether it was added
bool addBackend(BackendEntry entry);

} // namespace halftone::backends
