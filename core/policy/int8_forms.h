#pragma once

#include <string_view>

namespace halftone::dialect {
class Dialect;
}

namespace halftone::policy {

/// Does the dialect have an int8 form of an operator that the quantizer makes? Whether one node can take it depends on its
/// attributes (core/quantize/RULES.md, Q-forms).
bool hasInt8Form(const dialect::Dialect &dialect, std::string_view op);

} // namespace halftone::policy
