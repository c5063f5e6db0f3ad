#include "core/ops/op_fused.h"

#include "core/ops/operator.h"

#include <algorithm>
#include <cmath>

namespace halftone::ops {
namespace {

double magnitudeOf(const CalibratedRange &range)
{
    return std::max(std::abs(*range.low), std::abs(*range.high));
}

} // namespace

double codesOfData(DType type)
{
    return type == DType::U8 ? 255.5 : 127.5;
}

double scaleOfRange(DType type, double low, double high)
{
    constexpr double kLargestScale = 2147483647.0;
    const double amax = std::max(std::abs(low), std::abs(high));
    return amax > 0 ? codesOfData(type) / amax : kLargestScale;
}

CalibratedRange codeLimits(const CalibratedRange &range, DType type)
{
    const double most = magnitudeOf(range);
    return {type == DType::U8 ? 0 : -most, most};
}

bool FusedProduct::keepsCodes(DType resultType) const
{
    return requantized && !realOutput && resultType == requantized->type && isCalibrated()
        && (!activation || activation->isRelu()) && magnitudeOf(range) == requantized->most;
}

double FusedProduct::dataScale(DType type, double low, double high) const
{
    const double codes = codesOfData(type);
    return scaleOfRange(type, low, high) * (isPlain ? (codes - 0.5) / codes : 1);
}

std::optional<FusedProduct> plainProduct(const Operator &op)
{
    FusedProduct product;
    product.isPlain = true;
    product.codedWeights = true;
    if (const auto *conv = op.getIf<Quantized<Conv>>())
        product.conv = conv->op;
    else if (const auto *full = op.getIf<Quantized<FullyConnected>>(); full && !full->realOutput)
        product.full = full->op;
    else
        return std::nullopt;
    return product;
}

std::optional<Requantized> requantizedTo(const Requantize &op, DType type)
{
    if (!op.range.low || !op.range.high || (type != DType::I8 && type != DType::U8))
        return std::nullopt;
    const double most = magnitudeOf(op.range);
    if (!(most > 0) || !std::isfinite(most) || (type == DType::U8 && *op.range.low < 0))
        return std::nullopt;
    return Requantized{type, most};
}

} // namespace halftone::ops
