#pragma once

#include "core/infer/type_map.h"
#include "core/session/snapshot.h"

#include <vector>

namespace halftone::widgets {

/// The element types of the source graph as it was loaded; Unknown where they do not follow from its parameters and inputs.
infer::TypeMap sourceTypes(const session::Snapshot &snapshot);

/// By NodeId of the source: how many inserted casts and multicasts it reads.
std::vector<std::uint32_t> castsByReader(const session::Snapshot &snapshot);

} // namespace halftone::widgets
