#pragma once

#include "core/base/result.h"
#include "core/calibration/calibrated.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::report {

/// The table of `calibrate` (app/README.md, "Commands") as JSON text: for every tensor its range, threshold with the SQNR that it gives
/// and that minmax would give, shares and counts for float16 and bfloat16, exponents, histogram, channels' ranges. Piece by piece: of a
/// network with tens of thousands of tensors it takes gigabytes. fails: as `write`
Result<void> writeCalibration(std::span<const calibration::CalibratedTensor> tensors,
                              calibration::ThresholdMethod method, std::size_t examples, double seconds,
                              const std::function<Result<void>(std::string_view)> &write);

/// The same for bare arrays.
std::string arraysJson(std::span<const calibration::CalibratedArray> arrays,
                       calibration::ThresholdMethod method);

/// The range of one tensor in a table.
struct NamedRange
{
    std::string name;
    float low = 0;
    float high = 0;
    std::optional<double> least = {}; ///< of its values; absent: the table does not tell
    std::optional<double> greatest = {};
};

/// The calibrated ranges of a table as writeCalibration() writes it.
/// fails: BadInput, naming the place
Result<std::vector<NamedRange>> readCalibrationTable(std::string_view table);

} // namespace halftone::report
