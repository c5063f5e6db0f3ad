#pragma once

#include "core/policy/edits.h"
#include "core/session/snapshot.h"
#include "widgets/models/list_entries.h"

#include <optional>
#include <vector>

/// Taking entries out of the lists, as an edit.
namespace halftone::widgets {

struct PlacedEntry
{
    ListId list = ListId::Neutral;
    ListEntry entry;
};

/// Takes entries out of the lists that they stand in: operators become neutral, nodes follow the lists again. Nothing
/// when there is nothing to take out (neutral operators).
std::optional<policy::Edit> removalOf(const session::Snapshot &snapshot,
                                      const std::vector<PlacedEntry> &entries);

} // namespace halftone::widgets
