#pragma once

#include "core/base/json.h"
#include "core/session/verify_model.h"

#include <string>

namespace halftone::results {

/// All operators of the census, casts left out.
mixed::TypeShare sumOf(const mixed::TypeCensus &census);
/// The name of a type; "none" for Unknown.
std::string wordOf(tensor::DType type);

/// `verify --json`. policy  what was wanted; null: nothing
OrderedJson verificationJson(const session::Census &found, const policy::Policy *policy);

} // namespace halftone::results
