#pragma once

#include "core/tune/model_oracle.h"
#include "core/tune/search.h"

#include "halftone/tune.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace halftone::api {

struct Front::Content
{
    Model model;
    Data data;
    Compute compute;
    tune::TuneTask task;
    std::optional<tune::Limit> limit;
    tune::Front front;
    std::vector<std::size_t> offered; ///< of front.points, by error
    std::vector<FrontPoint> points; ///< those
    std::string report;

    std::size_t placeOf(std::size_t point) const
    {
        return static_cast<std::size_t>(std::ranges::find(offered, point) - offered.begin());
    }
};

} // namespace halftone::api
