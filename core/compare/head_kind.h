#pragma once

#include "core/graph/graph.h"

#include <cstdint>

namespace halftone::compare {

/// What an output's values are, by the operator that makes them.
enum class HeadKind : std::uint8_t
{
    Unknown,
    Probabilities, ///< of classes: a softmax
    Embedding, ///< a normalisation: vectors that are compared by their direction
};

/// Casts are looked through.
HeadKind headKindOf(const graph::Graph &graph, graph::Entry head);

} // namespace halftone::compare
