#pragma once

#include "app/cli/data_options.h"
#include "core/walks/calibrate.h"

#include <string>

namespace halftone::cli {

/// The data and how thresholds are found on them: shared by the commands that calibrate.
struct CalibrationOptions
{
    DataOptions data;
    walks::CalibrateOptions settings; ///< with the data, once they were taken
    double percentile = 99.99;

    /// percentileOf  the option that --percentile belongs to, as "--method"
    void addTo(Command &command, const std::string &percentileOf);
    /// Puts all into `settings`. fails: BadCall for numbers out of range.
    Result<void> take();
};

} // namespace halftone::cli
