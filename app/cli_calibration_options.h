#pragma once

#include "core/base/result.h"
#include "core/session/calibrate.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

namespace halftone::cli {

/// The data and how thresholds are found on them: shared by the commands that calibrate.
struct CalibrationOptions
{
    session::CalibrateOptions settings;
    double percentile = 99.99;
    std::int64_t examples = 0;
    std::int64_t batch = 0;
    std::int64_t threads = 0;

    /// percentileOf  the option that --percentile belongs to, as "--method"
    void addTo(CLI::App &command, const std::string &percentileOf);
    /// Puts numbers into `settings`. fails: BadCall for those out of range.
    Result<void> take();
};

} // namespace halftone::cli
