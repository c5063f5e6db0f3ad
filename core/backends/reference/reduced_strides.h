#pragma once

#include "core/backends/reference/axis_walk.h"
#include "core/ops/op_reduce.h"
#include "core/ops/shape_slots.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace halftone::backends::reference {

/// Where each axis of the input goes in the result: the result's strides, 0 along reduced axes.
inline Result<std::vector<std::int64_t>> reducedStrides(DimSpan dims, const ops::Dims &axes, bool exclude)
{
    std::vector<bool> gone(dims.size(), axes.empty() || exclude);
    if (!axes.empty()) {
        HALFTONE_TRY(const std::vector<std::size_t> named, ops::resolveAxes(axes, dims.size()));
        for (const std::size_t axis : named)
            gone[axis] = !exclude;
    }
    std::vector<std::int64_t> strides(dims.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t axis = dims.size(); axis-- > 0;) {
        if (gone[axis])
            continue;
        strides[axis] = stride;
        stride *= dims[axis];
    }
    return strides;
}

/// Calls `use(element, place in the result)` for every element.
template <class Real, class Use>
void eachPlace(const Real *data, DimSpan dims, const std::vector<std::int64_t> &strides, const Use &use)
{
    if (count(dims) == 0)
        return;
    RowWalk walk(dims, {strides});
    for (std::size_t row = 0; row < walk.rowCount(); ++row, walk.next()) {
        std::int64_t to = walk.offset(0);
        for (std::size_t i = 0; i < walk.rowLength(); ++i, to += walk.step(0))
            use(*data++, static_cast<std::size_t>(to));
    }
}

/// What a reduction of this kind begins with, in the numbers that it is computed in.
template <class Number>
Number startOf(ops::Reduce::Kind kind)
{
    using Kind = ops::Reduce::Kind;
    using Limits = std::numeric_limits<Number>;
    switch (kind) {
    case Kind::Max:
        return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    case Kind::Min:
        return Limits::has_infinity ? Limits::infinity() : Limits::max();
    case Kind::Prod:
    case Kind::NanProd:
        return 1;
    default:
        return 0;
    }
}

/// The same for elements of that type: the largest or smallest of no integers is the end of their range, of no bools false or true.
template <class Number>
Number startFor(ops::Reduce::Kind kind, tensor::DType type)
{
    using tensor::DType;
    const bool isMax = kind == ops::Reduce::Kind::Max;
    if (tensor::isFloat(type) || (!isMax && kind != ops::Reduce::Kind::Min))
        return startOf<Number>(kind);
    if (type == DType::Bool)
        return isMax ? Number(0) : Number(1);
    const bool isSigned = type == DType::I8 || type == DType::I16 || type == DType::I32 || type == DType::I64
        || type == DType::I4 || type == DType::I2;
    const int packed = tensor::packedBits(type);
    const int bits = packed > 0 ? packed : static_cast<int>(8 * tensor::sizeOf(type));
    if (isMax && !isSigned)
        return 0;
    if (bits == 64 && std::is_integral_v<Number>)
        return startOf<Number>(kind);
    const double half = std::ldexp(1.0, isSigned ? bits - 1 : bits);
    return static_cast<Number>(isMax ? -half : half - 1);
}

} // namespace halftone::backends::reference
