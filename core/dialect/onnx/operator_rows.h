#pragma once

#include "core/dialect/onnx/node_reader.h"
#include "core/ops/operator.h"

#include <span>
#include <string_view>

namespace halftone::dialect::onnx {

/// An ONNX operator and how its nodes are read into a struct. Adding an operator: its struct and shape rule in core/ops, its
/// kernels, a row in one of the describe_ files.
struct OperatorRow
{
    std::string_view name; ///< "Conv"; of another domain than ai.onnx "com.microsoft.Gelu"
    ops::Operator (*read)(NodeReader &reader);
};

/// The row of that name; null when the operator has no struct. O(1).
const OperatorRow *findRow(std::string_view name);

// The parts of the table, a file each.
std::span<const OperatorRow> elementwiseRows();
std::span<const OperatorRow> layerRows();
std::span<const OperatorRow> movementRows();
std::span<const OperatorRow> placeRows();
std::span<const OperatorRow> samplingRows();
std::span<const OperatorRow> speechRows();
std::span<const OperatorRow> codeRows();
std::span<const OperatorRow> tabularRows();
std::span<const OperatorRow> randomRows();

} // namespace halftone::dialect::onnx
