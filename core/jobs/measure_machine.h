#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/hardware/description.h"

namespace halftone::jobs {

/// Runs small networks of convolutions, of products and of elementwise operators on this machine by the default backend, converted to each
/// type that it has kernels for, and sees how many times as fast as in float32 they are. Types that are emulated are left out. About two
/// seconds.
/// fails: Cancelled; what a conversion or a run refuses
Result<hardware::Measurement> measureMachine(const Progress &progress = {});

/// Measures this machine and keeps that (hardware::keepMeasurement()), where it is described and no measurement is kept.
/// fails: as measureMachine(), but for a build or machine without latency plans, which stays unmeasured
Result<void> ensureMeasured(const Progress &progress = {});

} // namespace halftone::jobs
