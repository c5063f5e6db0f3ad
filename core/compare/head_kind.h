#pragma once

#include "core/graph/graph.h"

#include <cstdint>

namespace halftone::compare {

/// The kind of an output's values, by the operator that computes them.
enum class HeadKind : std::uint8_t
{
    Unknown,
    Probabilities, ///< of classes, from a softmax
    Embedding, ///< vectors from a normalisation, compared by direction
};

/// Casts are ignored.
HeadKind headKindOf(const graph::Graph &graph, graph::Entry head);

} // namespace halftone::compare
