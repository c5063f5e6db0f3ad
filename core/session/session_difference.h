#pragma once

#include "core/session/session_file.h"

#include <string>
#include <vector>

namespace halftone::session {

/// One thing that two sessions say differently.
struct SessionDifference
{
    std::string what; ///< "model", "edits", a key of the policy ("fp32_ops"), "data: inputs", "view: sides"
    std::string there; ///< empty: says nothing of it
    std::string here;

    bool operator==(const SessionDifference &) const = default;
};

/// What the session `there`, as a file has it, says otherwise than the one `here`: the model, the edits that led to the present lists,
/// what these lists hold (of lists of names, those that the other one lacks), the data, and the view.
std::vector<SessionDifference> differencesOf(const SessionFile &there, const SessionFile &here);

} // namespace halftone::session
