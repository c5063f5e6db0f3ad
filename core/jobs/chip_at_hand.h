#pragma once

#include "core/backends/backends.h"
#include "core/base/result.h"
#include "core/hardware/description.h"

#include <memory>
#include <string>
#include <string_view>

namespace halftone::jobs {

/// Tells hardware::findDescription() of the first GPU that a backend computes on; the first call of a program looks for it, which
/// loads its driver. Safe from any thread.
/// returns  its description; null: there is none, or it is none that is described
std::shared_ptr<const hardware::Description> lookForGpu();

/// Which backend measures what is at hand: the default one, or that of the GPU; empty: the name is that of neither, or it is not there.
std::string backendAtHand(std::string_view chip);

/// As hardware::findDescription(), of the GPU at hand too.
Result<std::shared_ptr<const hardware::Description>> findChip(std::string_view nameOrFile);

/// The chip that a backend computes on, with that board's own bandwidth; null: it says none (a processor), or none that is described.
std::shared_ptr<const hardware::Description> chipOf(const backends::BackendInfo &backend);

} // namespace halftone::jobs
