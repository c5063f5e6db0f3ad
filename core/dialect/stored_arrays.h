#pragma once

#include "core/dialect/dialect.h"
#include "core/graph/model.h"

#include <string_view>
#include <unordered_map>

namespace halftone::dialect {

/// The parameters of a model, which must outlive it, by the variable that each belongs to.
using StoredArrays = std::unordered_map<std::string_view, const tensor::Array *>;

/// Of several arrays for one variable the last one counts.
inline StoredArrays storedArrays(const graph::Model &model)
{
    StoredArrays stored;
    for (const tensor::Array &array : model.parameters)
        stored.insert_or_assign(variableOf(model.graph, array.name), &array);
    return stored;
}

} // namespace halftone::dialect
