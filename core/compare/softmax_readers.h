#pragma once

#include "core/graph/graph.h"

#include <cstdint>
#include <vector>

namespace halftone::compare {

/// Of a value that only softmax reads (attention scores behind a mask): what lies further below the largest value of its row than this gets
/// a weight that float32 rounds to 0. What such a value is makes no difference.
struct Weighed
{
    double below = 0; ///< 0: every value counts
    std::int64_t axis
        = -1; ///< of the rows; only the last one is understood, and where it is another every value counts

    bool operator==(const Weighed &) const = default;
};

/// By NodeId, of the node's first output: its readers are softmaxes, also behind casts, and it is no output of the graph.
std::vector<Weighed> weighedValues(const graph::Graph &graph);

} // namespace halftone::compare
