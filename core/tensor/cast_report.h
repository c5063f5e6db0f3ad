#pragma once

#include <cstdint>

namespace halftone::tensor {

/// What narrowing did to values.
struct CastReport
{
    std::uint64_t overflowed = 0; ///< finite values that became infinite
    std::uint64_t flushed = 0; ///< values other than zero that became zero
    std::uint64_t subnormal = 0; ///< results below the type's smallest normal number: fewer bits of precision
    std::uint64_t nan = 0; ///< NaN, which stays NaN

    bool operator==(const CastReport &) const = default;
};

} // namespace halftone::tensor
