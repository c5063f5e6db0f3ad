#include "core/dialect/mxnet/range_text.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace halftone::dialect::mxnet {
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

bool isLongText(const CodedRange &range)
{
    return isLong(range.low) || isLong(range.high);
}

} // namespace halftone::dialect::mxnet
