#pragma once

#include "core/dialect/coded_pairs.h"
#include "core/quantize/quantize.h"

namespace halftone::quantize {

/// Makes operators on codes of the products that stand between pairs and whose result becomes codes, cuts of its range
/// included where no code lies beyond them, and whose types go together (uint8 data with an int8 result do not): the others stay between
/// their pairs. Pairs and parameters that nobody reads then are gone.
void toOperators(QuantizedModel &quantized, const dialect::CodedPairs &forms);

} // namespace halftone::quantize
