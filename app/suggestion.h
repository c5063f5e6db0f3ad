#pragma once

#include "core/policy/edits.h"
#include "core/session/snapshot.h"

#include <optional>
#include <string>

namespace halftone::app {

/// Something that the figures say should be mended, and the edit that does it.
struct Suggestion
{
    graph::NodeId node = 0;
    std::string text; ///< "energy (sum) overflows in float16: 450 of 450 values become infinite"
    std::string action; ///< "Keep sum in fp32"
    policy::Edit edit;
};

/// The first operator, in the network's order, that overflows or gives NaN where the reference is finite: its own
/// rounding is at fault, not that of those before it. Else, from the statistics alone, the first tensor with values that the
/// type of its nodes cannot hold. Nothing when there is none, or a comparison is not of this snapshot.
std::optional<Suggestion> suggestionFor(const session::Snapshot &snapshot, const session::Figures &figures);

} // namespace halftone::app
