#include "core/translate/codes.h"

#include "core/ops/op_fused.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace halftone::translate {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

/// Codes for 1 of a range that holds nothing but zeros (Q-empty).
constexpr double kLargestScale = 2147483647.0;

Value zeroPoint(NodeWriter &to, DType type)
{
    return to.number("zero_point", 0, type);
}

/// Both ends known, and codes that are proportional to what they stand for.
Result<CodedRange> checked(const NodeWriter &to, const std::optional<double> &low,
                           const std::optional<double> &high, DType type)
{
    if (!low || !high)
        return to.refuse("its range is determined at run time; calibrate the model first");
    if (type == DType::U8 && *low < 0 && *high > *low)
        return to.refuse("uint8 codes with an offset cannot be written as ONNX");
    return CodedRange{*low, *high};
}

} // namespace

double CodedRange::magnitude() const
{
    return std::max(std::abs(low), std::abs(high));
}

double stepOf(DType type, const CodedRange &range, bool half)
{
    const double codes = ops::codesOfData(type) - (half ? 0 : 0.5);
    return range.magnitude() > 0 ? range.magnitude() / codes : 1 / kLargestScale;
}

Result<CodedRange> rangeAt(const NodeWriter &to, std::size_t low, DType type)
{
    return checked(to, to.end(low), to.end(low + 1), type);
}

Result<CodedRange> rangeOf(const NodeWriter &to, const ops::CalibratedRange &range, DType type)
{
    return checked(to, range.low, range.high, type);
}

void setRange(NodeWriter &to, const CodedRange &range)
{
    to.setEnd(1, range.low);
    to.setEnd(2, range.high);
}

Value decoded(NodeWriter &to, std::size_t input, double step)
{
    if (to.isSum(input))
        return to.in(input);
    if (to.type(input) == DType::I32) // has no zero point
        return to.add("DequantizeLinear", {to.in(input), to.number("scale", step, DType::F32)});
    return to.add("DequantizeLinear",
                  {to.in(input), to.number("scale", step, DType::F32), zeroPoint(to, to.type(input))});
}

Value encoded(NodeWriter &to, const Value &real, double step, DType type)
{
    return to.add("QuantizeLinear", {real, to.number("scale", step, DType::F32), zeroPoint(to, type)});
}

Value decodedConstant(NodeWriter &to, std::string_view what, Tensor codes, const std::vector<double> &steps)
{
    const DType type = codes.dtype();
    const bool isOne = steps.size() == 1;
    const Shape shape = isOne ? Shape(std::vector<std::int64_t>()) : Shape{std::ssize(steps)};
    const Value scale = to.numbers(std::string(what) + "_scale", steps, DType::F32, shape);
    const Value zero
        = to.numbers(std::string(what) + "_zero_point", std::vector<double>(steps.size(), 0), type, shape);
    graph::Attributes attributes;
    if (!isOne)
        attributes.set("axis", "0");
    return to.add("DequantizeLinear", {to.tensor(what, std::move(codes)), scale, zero},
                  std::move(attributes));
}

} // namespace halftone::translate
