#pragma once

#include "core/dialect/quantized_forms.h"

#include <string>

namespace halftone::dialect::mxnet {

/// The end of a range as MXNet writes it: six digits behind the point, where that keeps six significant ones, else nine
/// significant digits, which MXNet reads as well. Zero has no sign.
std::string rangeText(float value);

/// Does that text of one of the ends have more digits than MXNet writes?
bool isLongText(const CodedRange &range);

} // namespace halftone::dialect::mxnet
