#pragma once

#include <nlohmann/json.hpp>

#include <cmath>

namespace halftone::report {

/// A number as reports write it: those that JSON cannot say are texts (spec: cli, "Common rules").
inline nlohmann::ordered_json jsonNumber(double value)
{
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value > 0 ? "inf" : "-inf";
    return value;
}

} // namespace halftone::report
