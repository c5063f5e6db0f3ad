#include "core/dialect/onnx/operator_rows.h"
#include "core/dialect/onnx/window_fields.h"

#include <array>

/// Operators on codes with scales and zero points.
namespace halftone::dialect::onnx {
namespace {

using ops::Operator;

Operator quantizeLinear(NodeReader &in)
{
    return ops::QuantizeLinear{in.integer("axis", 1), in.integer("block_size", 0), in.hasInput(2),
                               in.boolean("saturate", true)};
}

Operator dequantizeLinear(NodeReader &in)
{
    return ops::DequantizeLinear{in.integer("axis", 1), in.integer("block_size", 0), in.hasInput(2)};
}

Operator dynamicQuantizeLinear(NodeReader &)
{
    return ops::DynamicQuantizeLinear{};
}

Operator convInteger(NodeReader &in)
{
    return ops::CodedConv{readConv(in, 1, false), false, in.hasInput(2), in.hasInput(3)};
}

Operator qLinearConv(NodeReader &in)
{
    return ops::CodedConv{readConv(in, 3, in.hasInput(8)), true, true, true};
}

Operator matMulInteger(NodeReader &in)
{
    return ops::CodedMatMul{false, in.hasInput(2), in.hasInput(3)};
}

Operator qLinearMatMul(NodeReader &)
{
    return ops::CodedMatMul{true, true, true};
}

} // namespace

std::span<const OperatorRow> codeRows()
{
    // clang-format off
    static constexpr std::array kRows{
        OperatorRow{"QuantizeLinear", quantizeLinear},
        OperatorRow{"DequantizeLinear", dequantizeLinear},
        OperatorRow{"DynamicQuantizeLinear", dynamicQuantizeLinear},
        OperatorRow{"ConvInteger", convInteger},
        OperatorRow{"QLinearConv", qLinearConv},
        OperatorRow{"MatMulInteger", matMulInteger},
        OperatorRow{"QLinearMatMul", qLinearMatMul},
    };
    // clang-format on
    return kRows;
}

} // namespace halftone::dialect::onnx
