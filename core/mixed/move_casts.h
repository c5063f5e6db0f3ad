#pragma once

#include "core/infer/infer_shapes.h"
#include "core/mixed/typed_plan.h"

namespace halftone::mixed {

/// What the cost of a cast of a variable depends on.
struct CastContext
{
    tensor::DType target = tensor::DType::F16;
    /// By NodeId: a variable that may be stored in the target type when all its readers want that: no cast at run time.
    const std::vector<bool> *isStorable = nullptr;
    const infer::ShapeMap *shapes = nullptr; ///< of the source graph; null: unknown
};

/// Mode typed, second thoughts. First neutral and widest operators get the types that need the fewest casts over the whole graph
/// (core/mixed/RULES.md, M-typed-cut). Then, against the flow, so that a cast travels past a whole chain:
///
/// An operator that only moves data, and whose readers all cast its outputs to the same type, moves the data in that type
/// instead when this reads and writes fewer bytes altogether and needs no more casts. Rounding before or after the move
/// gives the same values. Where shapes are unknown, only operators that keep the number of elements are considered.
///
/// Any neutral or widest operator whose readers all want the target type computes in it when all that it reads is there
/// in that type anyway (another reader's cast, a stored parameter) and casts become fewer. Where all of them want float32,
/// such an operator computes in that when it makes casts fewer, unless it multiplies matrices.
void moveCasts(const graph::Graph &source, const infer::NodeTypes &rules,
               const policy::Assignment &assignment, const CastContext &context, TypedPlan &plan);

} // namespace halftone::mixed
