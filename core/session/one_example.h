#pragma once

#include "core/infer/infer_shapes.h"
#include "core/session/session.h"

#include <string>
#include <vector>

namespace halftone::session {

/// Where no input has been given a shape, the first axis of data whose other axes are known becomes 1.
/// returns  the names of these inputs
Result<std::vector<std::string>> takeOneExample(Session &session, const infer::ShapeMap &shapes);

} // namespace halftone::session
