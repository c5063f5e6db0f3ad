#include "core/passes/quantize_text.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace halftone::passes {
namespace {

bool isLong(float value)
{
    return value != 0 && std::abs(value) < 0.1F;
}

} // namespace

std::string rangeText(float value)
{
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), isLong(value) ? "%.9g" : "%f", value == 0 ? 0.0 : double{value});
    return text.data();
}

bool setCalibratedRange(graph::Attributes &attributes, const QuantizedRange &range)
{
    attributes.set("min_calib_range", rangeText(range.low));
    attributes.set("max_calib_range", rangeText(range.high));
    return isLong(range.low) || isLong(range.high);
}

} // namespace halftone::passes
