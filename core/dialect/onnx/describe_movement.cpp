#include "core/dialect/onnx/operator_rows.h"

#include <array>

namespace halftone::dialect::onnx {
namespace {

ops::Operator reshape(NodeReader &in)
{
    ops::Reshape op;
    op.shape = in.integersAt(1);
    return op;
}

} // namespace

std::span<const OperatorRow> movementRows()
{
    // clang-format off
    static constexpr std::array kRows{
        OperatorRow{"Reshape", reshape},
    };
    // clang-format on
    return kRows;
}

} // namespace halftone::dialect::onnx
