#include "core/dialect/onnx/operator_rows.h"

#include <array>

namespace halftone::dialect::onnx {
namespace {

template <ops::UnaryKind kind>
ops::Operator unary(NodeReader &)
{
    return ops::Unary{kind};
}

template <ops::BinaryKind kind>
ops::Operator binary(NodeReader &)
{
    return ops::Binary{kind, true};
}

ops::Operator cast(NodeReader &in)
{
    return ops::Cast{in.type("to")};
}

} // namespace

std::span<const OperatorRow> elementwiseRows()
{
    // clang-format off
    static constexpr std::array kRows{
        OperatorRow{"Identity", unary<ops::UnaryKind::Identity>},
        OperatorRow{"Relu", unary<ops::UnaryKind::Relu>},
        OperatorRow{"Add", binary<ops::BinaryKind::Add>},
        OperatorRow{"Mul", binary<ops::BinaryKind::Mul>},
        OperatorRow{"Cast", cast},
    };
    // clang-format on
    return kRows;
}

} // namespace halftone::dialect::onnx
