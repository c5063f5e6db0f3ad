#pragma once

#include "core/base/json.h"
#include "core/tensor/shape.h"

#include <cmath>
#include <optional>

namespace halftone::report {

/// A number as reports write it: those that JSON cannot say are texts (app/README.md, "Common rules").
inline OrderedJson jsonNumber(double value)
{
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value > 0 ? "inf" : "-inf";
    return value;
}

/// null where it is not known.
inline OrderedJson numberOrNull(const std::optional<double> &value)
{
    return value ? jsonNumber(*value) : OrderedJson();
}

/// [1, 3, null, 224]; null for an unknown rank.
inline OrderedJson jsonShape(const tensor::Shape &shape)
{
    if (!shape.hasRank())
        return nullptr;
    auto dims = OrderedJson::array();
    for (const std::int64_t dim : shape.dims())
        dims.push_back(dim < 0 ? OrderedJson(nullptr) : OrderedJson(dim));
    return dims;
}

} // namespace halftone::report
