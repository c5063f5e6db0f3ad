#pragma once

#include "core/ops/operator.h"

#include <cstdint>

namespace halftone::ops {

/// How an operator behaves when it computes in a 16-bit type: what can go wrong there, from harmless to
/// delicate.
enum class NumericalClass : std::uint8_t
{
    DataMovement, ///< moves or selects elements: exact in every type that holds them
    Comparison, ///< gives truth values, indices or order: near ties flip, indices above the type's exact
    ///< integers are lost
    ElementwiseSafe, ///< magnitude at most that of the inputs and a small factor: loses rounding, never range
    MatrixProduct, ///< long sums of products, kept in fp32 by hardware: gains most from a narrow type
    RangeSensitive, ///< magnitude grows or shrinks without bound (exp, square, division): overflows or
    ///< underflows float16
    Reduction, ///< long sums or products in the narrow type: lose small terms, overflow float16
    Normalisation, ///< divides by a statistic: small variances and exponentials need range and bits
    LossOrBox, ///< losses and box coordinates: results are small differences of large numbers
    Control, ///< control flow; what matters is in the bodies
    Unknown, ///< an operator that is not analysed
};

NumericalClass numericalClass(const Operator &op);

} // namespace halftone::ops
