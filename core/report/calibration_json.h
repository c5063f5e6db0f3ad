#pragma once

#include "core/calibration/calibrated.h"

#include <cstddef>
#include <span>
#include <string>

namespace halftone::report {

/// The table of `calibrate` (spec: cli) as JSON text: for every tensor its range, threshold (the largest |x|), shares and
/// counts for float16 and bfloat16, exponents, histogram, channels' ranges.
std::string calibrationJson(std::span<const calibration::CalibratedTensor> tensors, std::size_t examples,
                            double seconds);

/// The same for bare arrays.
std::string arraysJson(std::span<const calibration::CalibratedArray> arrays);

} // namespace halftone::report
