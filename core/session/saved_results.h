#pragma once

#include "core/base/result.h"
#include "core/session/snapshot.h"

#include <string>
#include <string_view>

namespace halftone::session {

/// The results that belong to this snapshot, as JSON for a session file: `comparison` {`layers`, `outputs`, `threshold`,
/// `first_divergence`, `isolated`, `examples`, `seconds`, `accuracy`, `task`} and `latency` {`fp32`, `mixed`, `versus`, `native`}, both with the `basis`
/// that they were computed from (result_basis.h) where it is known. Nodes are told by
/// their numbers in the source, figures by the names that the command line's reports have; what is not finite is "inf",
/// "-inf" or "nan". Statistics of tensors are not kept: they are larger than most models, and collected anew from the data.
/// Empty: none belong to it.
std::string resultsText(const Snapshot &snapshot, const Figures &figures);

/// What resultsText() wrote, as figures of this snapshot. Needs: the same model, and a policy that says the same.
/// fails: BadInput with the JSON path of what does not fit
Result<Figures> readResults(std::string_view text, const Snapshot &snapshot);

} // namespace halftone::session
