#pragma once

#include "core/rewrite/rewrite.h"

#include <cstdint>

namespace halftone::rewrite {

enum class InlinedCalls : std::uint8_t
{
    All,
    OfTheModel ///< not those of a library's operators, for who has kernels of them
};

/// Nodes that call a function give way to the nodes of its body, in bodies of control flow too. These bear the name of the
/// call before their own, and so do their values; what bodies of control flow in it define is named apart already. The graph becomes one of the newest version that any body is of.
///
/// fails  Unsupported for an operator that has no counterpart in that version
Result<Rewritten> inlineCalls(const graph::Model &model, const Progress &progress);
Result<Rewritten> inlineCalls(const graph::Model &model, InlinedCalls which, const Progress &progress);

} // namespace halftone::rewrite
