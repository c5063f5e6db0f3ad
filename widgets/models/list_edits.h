#pragma once

#include "core/policy/edits.h"
#include "core/session/snapshot.h"

#include <QString>

#include <optional>
#include <string>
#include <vector>

/// What moves to lists and removals from them share.
namespace halftone::widgets {

/// "Convolution", "Convolution and Pooling", "3 operators".
QString namedOperators(const std::vector<std::string> &ops);

/// Several edits as one, so that one undo takes them back; nothing when there are none.
std::optional<policy::Edit> asOne(const session::Snapshot &snapshot, std::vector<policy::Edit> edits,
                                  const QString &what);

} // namespace halftone::widgets
