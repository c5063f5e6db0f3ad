#pragma once

#include "core/calibration/histogram.h"

#include <vector>

namespace halftone::widgets {

struct DrawnBin
{
    double centre = 0;
    double width = 0;
    double count = 0;
};

/// The histogram's bins within [from, to], neighbours joined so that there are at most `most`; empty ones left out. A
/// bin that lies across an edge counts wholly.
std::vector<DrawnBin> drawnBins(const calibration::Histogram &histogram, double from, double to,
                                std::size_t most);

} // namespace halftone::widgets
