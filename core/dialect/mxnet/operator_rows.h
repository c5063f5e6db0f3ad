#pragma once

#include "core/ops/operator.h"

#include <span>
#include <string_view>

namespace halftone::dialect::mxnet {

/// An MXNet operator and the struct it is read into, with what the name alone says already set. Adding an
/// operator: its struct and shape rule in core/ops, its describe(), a row here.
struct OperatorRow
{
    std::string_view name; ///< canonical
    ops::Operator prototype;
};

/// All of them. Where several names read into equal prototypes, the first one is the one written.
std::span<const OperatorRow> operatorRows();
/// The row of a canonical name; null when the operator has no struct. O(1).
const OperatorRow *findRow(std::string_view name);
/// The row that says the same as `op` apart from attributes; null when MXNet has no such operator.
const OperatorRow *rowFor(const ops::Operator &op);

} // namespace halftone::dialect::mxnet
