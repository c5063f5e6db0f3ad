#pragma once

#include "core/ops/operator.h"
#include "core/tensor/shape.h"

#include <cstdint>
#include <optional>
#include <span>

namespace halftone::ops {

/// What one run of an operator costs, before any fusion or caching.
struct Cost
{
    /// Floating operations: a multiply-add counts 2, any other function of an element 1 a step (an
    /// exponential too), moving 0.
    std::int64_t flops = 0;
    /// Bytes of every input read once and every output written once.
    std::int64_t bytes = 0;

    bool operator==(const Cost &) const = default;
};

/// `inputSizes`, `outputSizes`: bytes of one element of each (as tensor::sizeOf), as many as there are
/// shapes. returns: nothing when a shape is open, a number exceeds 2^63 - 1, or the operator is not analysed
/// (Opaque, ControlFlow).
std::optional<Cost> cost(const Operator &op, std::span<const tensor::Shape> inputs,
                         std::span<const tensor::Shape> outputs, std::span<const std::size_t> inputSizes,
                         std::span<const std::size_t> outputSizes);

/// The floating operations alone; infinity where they exceed 2^63 - 1; nothing where a shape is open or the operator is not
/// analysed.
std::optional<double> flops(const Operator &op, std::span<const tensor::Shape> inputs,
                            std::span<const tensor::Shape> outputs);

} // namespace halftone::ops
