#pragma once

#include "core/base/json.h"
#include "core/base/result.h"

#include <string>

namespace halftone::session {

inline constexpr const char *kPathBytes = "_bytes"; ///< behind the key of a path that is no UTF-8

/// Paths are bytes, and JSON is Unicode: one that is no UTF-8 stands readable under `key`, and in hexadecimal digits under
/// `key`_bytes, from where it is read.
void putPath(OrderedJson &object, const std::string &key, const std::string &path);

/// Empty where neither key is there. fails: BadInput for what is no text, or are no pairs of digits
Result<std::string> readPath(const OrderedJson &object, const std::string &key);

} // namespace halftone::session
