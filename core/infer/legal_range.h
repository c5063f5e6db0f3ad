#pragma once

#include "core/infer/infer_shapes.h"

#include <cstdint>
#include <limits>

namespace halftone::infer {

/// Integers that the readers of a variable accept; both ends are legal.
struct LegalRange
{
    std::int64_t low = std::numeric_limits<std::int64_t>::min();
    std::int64_t high = std::numeric_limits<std::int64_t>::max();

    bool isOpen() const
    {
        return low == std::numeric_limits<std::int64_t>::min()
            && high == std::numeric_limits<std::int64_t>::max();
    }
    void narrow(std::int64_t least, std::int64_t most)
    {
        low = low < least ? least : low;
        high = high > most ? most : high;
    }
};

/// By the operators that read the variable, also behind such as only move values: places in tables, classes, lengths. Open where no reader has
/// a limit. Needs: shapes of what its readers read
LegalRange legalRange(const graph::Graph &graph, const ShapeMap &shapes, graph::NodeId variable);

} // namespace halftone::infer
