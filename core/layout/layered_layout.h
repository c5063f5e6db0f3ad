#pragma once

#include "core/layout/piece.h"

#include <stop_token>

namespace halftone::layout {

/// A plain layered drawing (Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical System
/// Structures", 1981): rows by longest path, order in rows by barycentres, places by least squares. Linear but for the
/// sorting, so that it serves where Graphviz is absent or too slow. Deterministic.
/// When stopped it gives what there is: valid, but less tidy.
PieceLayout layeredLayout(const Piece &piece, const Gaps &gaps, const std::stop_token &stop = {});

} // namespace halftone::layout
