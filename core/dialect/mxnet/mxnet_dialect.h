#pragma once

#include "core/dialect/dialect.h"
#include "core/dialect/quantized_forms.h"

#include <string_view>

namespace halftone::dialect::mxnet {

inline constexpr std::string_view kVariableOp = "null"; ///< the operator name of variables in symbol JSON

/// MXNet 1.9.1.
const Dialect &mxnetDialect();

/// Its two families of int8 operators (core/quantize/RULES.md, Q-plain, Q-fused).
const QuantizedForms &int8Forms();

} // namespace halftone::dialect::mxnet
