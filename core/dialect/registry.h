#pragma once

#include "core/dialect/dialect.h"

#include <span>
#include <string_view>

namespace halftone::dialect {

/// The formats that there are, the default first.
std::span<const Dialect *const> allDialects();
/// For what has no model yet: policies and lists by themselves.
const Dialect &defaultDialect();
/// By Dialect::name(); null when there is none.
const Dialect *dialectNamed(std::string_view name);

} // namespace halftone::dialect
