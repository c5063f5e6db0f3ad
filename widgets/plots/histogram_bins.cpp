#include "widgets/plots/histogram_bins.h"

#include <algorithm>
#include <cmath>

namespace halftone::widgets {

std::vector<DrawnBin> drawnBins(const calibration::Histogram &histogram, double from, double to,
                                std::size_t most)
{
    const auto counts = histogram.counts();
    if (counts.empty() || !(to > from) || most == 0)
        return {};
    const double width = 2 * histogram.limit() / static_cast<double>(counts.size());
    const double last = static_cast<double>(counts.size());
    const double lower = std::clamp(std::floor((from + histogram.limit()) / width), 0.0, last);
    const double upper = std::clamp(std::ceil((to + histogram.limit()) / width), 0.0, last);
    const auto begin = static_cast<std::size_t>(lower);
    const auto end = static_cast<std::size_t>(upper);
    const std::size_t step = std::max<std::size_t>(1, (end - begin + most - 1) / most);
    std::vector<DrawnBin> bins;
    for (std::size_t k = begin; k < end; k += step) {
        const std::size_t joined = std::min(step, end - k);
        std::uint64_t count = 0;
        for (std::size_t i = 0; i < joined; ++i)
            count += counts[k + i];
        if (count == 0)
            continue;
        const double left = -histogram.limit() + static_cast<double>(k) * width;
        bins.push_back({left + static_cast<double>(joined) * width / 2, static_cast<double>(joined) * width,
                        static_cast<double>(count)});
    }
    return bins;
}

} // namespace halftone::widgets
