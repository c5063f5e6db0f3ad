#pragma once

#include "core/base/result.h"
#include "core/layout/limited_child.h"
#include "core/layout/piece.h"

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::layout {

/// The piece in Graphviz's language. Equal pieces give equal text, so that it can be the key of a cache.
std::string dotText(const Piece &piece, const Gaps &gaps);

/// What `dot -Tplain` answered for pieces, in the order asked (Graphviz, "Output Formats", section plain). What is
/// missing or not as it should be is nothing.
std::vector<std::optional<PieceLayout>> readPlain(std::string_view plain,
                                                  std::span<const Piece *const> pieces);

struct DotOutcome
{
    std::vector<std::optional<PieceLayout>> pieces; ///< nothing where Graphviz did not finish in time
    std::string note; ///< why some are missing; empty when none is
};

/// Lays all pieces out in one run of Graphviz's `program`, a child process that does not outlive the call.
/// fails: Unsupported when it cannot be started; Cancelled
Result<DotOutcome> dotLayout(const std::string &program, std::span<const Piece *const> pieces,
                             const Gaps &gaps, const ChildLimits &limits, const std::stop_token &stop);

} // namespace halftone::layout
