#pragma once

#include "core/base/result.h"

#include <string>

namespace halftone {

/// A failed system call on `path`: "cannot write: No space left on device". `number` is errno as the call
/// left it.
Error fileError(const std::string &path, const std::string &action, int number);

} // namespace halftone
