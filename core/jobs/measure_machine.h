#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/hardware/description.h"
#include "core/profile/latency.h"

#include <optional>
#include <string_view>

namespace halftone::jobs {

/// How many times as fast as the other plan one was; nothing if the figure is not steady: if the ends of its 95 % interval are further apart
/// than a quarter, as when other programs run.
std::optional<double> steadySpeed(const profile::Versus &narrow);

/// Runs small networks of convolutions, of products and of elementwise operators on what is at hand, the processor by the default backend
/// or the GPU by its own, converted to each type that it has kernels for, and sees how many times as fast as in float32 they are: by the
/// device's own clock on a GPU. Types that are emulated are left out, and so is what other programs disturb (steadySpeed()). About two
/// seconds.
/// chip   hardware::kThis or hardware::kThisGpu
/// fails: Unsupported where it is not there; Cancelled; what a conversion or a run refuses
Result<hardware::Measurement> measureMachine(std::string_view chip, const Progress &progress = {});

/// The same, and keeps it (hardware::keepMeasurement()). fails: as measureMachine()
Result<void> measureAnew(std::string_view chip, const Progress &progress = {});

/// Is a measurement kept? False for a chip that is not at hand, and for a GPU that nobody looked for (lookForGpu()).
bool isMeasured(std::string_view chip);

/// Measures and keeps what is at hand, is described and was not measured; does nothing for any other chip.
/// fails: as measureMachine(), but for a build or machine without latency plans, which stays unmeasured
Result<void> ensureMeasured(std::string_view chip, const Progress &progress = {});

} // namespace halftone::jobs
