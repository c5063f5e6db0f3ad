#pragma once

#include "core/base/json.h"
#include "core/session/verify_model.h"

namespace halftone::results {

/// `verify --json`. policy  what was wanted; null: nothing
OrderedJson verificationJson(const session::Census &found, const policy::Policy *policy);

} // namespace halftone::results
