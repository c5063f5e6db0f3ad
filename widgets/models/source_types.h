#pragma once

#include "core/infer/type_map.h"
#include "core/session/snapshot.h"

namespace halftone::widgets {

/// The element types of the source graph as it was loaded; Unknown where they do not follow from its parameters and inputs.
infer::TypeMap sourceTypes(const session::Snapshot &snapshot);

} // namespace halftone::widgets
