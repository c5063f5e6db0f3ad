#pragma once

#include "core/tensor/shape.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace halftone::report {

/// A number as reports write it: those that JSON cannot say are texts (app/README.md, "Common rules").
inline nlohmann::ordered_json jsonNumber(double value)
{
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value > 0 ? "inf" : "-inf";
    return value;
}

/// [1, 3, null, 224]; null for an unknown rank.
inline nlohmann::ordered_json jsonShape(const tensor::Shape &shape)
{
    if (!shape.hasRank())
        return nullptr;
    auto dims = nlohmann::ordered_json::array();
    for (const std::int64_t dim : shape.dims())
        dims.push_back(dim < 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(dim));
    return dims;
}

} // namespace halftone::report
