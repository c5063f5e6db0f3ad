#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/hardware/description.h"
#include "core/latency/latency.h"

#include <optional>
#include <string_view>

namespace halftone::machines {

/// How many times as fast as the other plan one was; nothing if the figure is not steady: if the ends of its 95 % interval are further apart
/// than a quarter, as when other programs run.
std::optional<double> steadySpeed(const latency::Versus &narrow);

/// Measures the speed of this machine by type, relative to float32: runs small networks of convolutions, products and elementwise operators on
/// the processor (default backend) or the GPU (its own backend), converted to each type that has native kernels. Uses the clock of the device
/// if there is one, and leaves out what is not steady (steadySpeed()). Takes about two seconds.
/// chip   hardware::kThis or hardware::kThisGpu
/// fails: Unsupported if there is no such chip; Cancelled; errors of conversion or execution
Result<hardware::Measurement> measureMachine(std::string_view chip, const Progress &progress = {});

/// Measures and stores the result (hardware::keepMeasurement()). fails: as measureMachine()
Result<void> remeasure(std::string_view chip, const Progress &progress = {});

/// Is there a stored measurement? False for a chip that this machine does not have, and for a GPU before lookForGpu().
bool isMeasured(std::string_view chip);

/// Measures and stores a chip of this machine that is described and not yet measured; does nothing for other chips.
/// fails: as measureMachine(), except that a build or machine without latency plans stays unmeasured
Result<void> ensureMeasured(std::string_view chip, const Progress &progress = {});

} // namespace halftone::machines
