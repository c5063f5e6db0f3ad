#include "app/cli/calibration_options.h"

#include <array>
#include <cstdio>

namespace halftone::cli {

void CalibrationOptions::addTo(Command &command, const std::string &percentileOf)
{
    data.addTo(command, DataOptions::Labels::Order);
    command
        .option("--percentile", &percentile,
                "With " + percentileOf + " percentile: share of values to keep, in percent (default: 99.99)")
        .type("P");
}

Result<void> CalibrationOptions::take()
{
    HALFTONE_CHECK(data.take(settings));
    if (!(percentile > 0 && percentile <= 100)) {
        std::array<char, 40> text{};
        std::snprintf(text.data(), text.size(), "%g", percentile);
        return badCall("--percentile", text.data(), "a number above 0, at most 100");
    }
    settings.threshold.percentile = percentile;
    return {};
}

} // namespace halftone::cli
