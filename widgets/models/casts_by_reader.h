#pragma once

#include "core/session/snapshot.h"

#include <cstdint>
#include <vector>

namespace halftone::widgets {

/// By NodeId of the source: how many inserted casts and multicasts it reads.
std::vector<std::uint32_t> castsByReader(const session::Snapshot &snapshot);

} // namespace halftone::widgets
