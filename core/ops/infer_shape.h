#pragma once

#include "core/base/result.h"
#include "core/ops/operator.h"
#include "core/tensor/shape.h"

#include <span>

namespace halftone::ops {

/// Completes the shapes around one operator with what follows from its attributes and from each other:
/// outputs from inputs, parameters (weights, bias, statistics, recurrent parameters, labels) from data, and
/// inputs from outputs where that is cheap. Unknown ranks and dimensions are allowed everywhere; what is
/// known never changes. An operator that is not analysed (Opaque, ControlFlow) fills in nothing. Repeating
/// the call until it returns false gives the fixpoint.
///
/// returns: true when something was filled in.
/// fails: Errc::BadInput for a contradiction (`where`: "input 1", "output 0"; both shapes are told) or for an
/// attribute that cannot be
/// (`where`: what it is called here). What was filled in before the error stays.
Result<bool> inferShapes(const Operator &op, std::span<tensor::Shape> inputs,
                         std::span<tensor::Shape> outputs);

} // namespace halftone::ops
