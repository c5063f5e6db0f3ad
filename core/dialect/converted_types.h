#pragma once

#include "core/ops/type_rule.h"

namespace halftone::dialect {

/// What an OpInfo may be besides: an operator for which a conversion chooses types from fewer than its type rule takes, since
/// programs that run the format's files compute no others. Models that have such types already keep them.
struct ConvertedTypes
{
    virtual ~ConvertedTypes() = default;

    /// Null where the type rule itself holds. By slot.
    virtual const ops::TypeRule *convertedTypes() const = 0;

protected:
    ConvertedTypes() = default;
    ConvertedTypes(const ConvertedTypes &) = default;
    ConvertedTypes(ConvertedTypes &&) = default;
    ConvertedTypes &operator=(const ConvertedTypes &) = default;
    ConvertedTypes &operator=(ConvertedTypes &&) = default;
};

} // namespace halftone::dialect
