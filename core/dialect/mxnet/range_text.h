#pragma once

#include "core/graph/attributes.h"
#include "core/passes/quantize.h"

#include <string>

namespace halftone::passes {

/// The end of a range as MXNet writes it: six digits behind the point, where that keeps six significant ones, else nine
/// significant digits, which MXNet reads as well. Zero has no sign.
std::string rangeText(float value);

/// Sets min_calib_range and max_calib_range. Gives whether one needed the longer text.
bool setCalibratedRange(graph::Attributes &attributes, const QuantizedRange &range);

} // namespace halftone::passes
