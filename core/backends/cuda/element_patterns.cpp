#include "core/backends/cuda/element_patterns.h"

namespace halftone::backends::cuda {

std::string_view floatPattern(ops::UnaryKind kind)
{
    using Kind = ops::UnaryKind;
    switch (kind) {
    case Kind::Identity:
    case Kind::StopGradient:
    case Kind::MakeLoss:
        return "$";
    case Kind::ZerosLike:
        return "N(0)";
    case Kind::OnesLike:
        return "N(1)";
    case Kind::Abs:
        return "fabs($)";
    case Kind::Negative:
        return "-$";
    case Kind::Sign:
        return "$ > 0 ? N(1) : $ < 0 ? N(-1) : N(0)";
    case Kind::SignOrNaN:
        return "$ > 0 ? N(1) : $ < 0 ? N(-1) : $ == 0 ? N(0) : $";
    case Kind::Relu:
        return "$ < 0 ? N(0) : $";
    case Kind::Ceil:
        return "ceil($)";
    case Kind::Floor:
        return "floor($)";
    case Kind::Fix:
    case Kind::Trunc:
        return "trunc($)";
    case Kind::Rint:
        return "$ - floor($) <= ceil($) - $ ? floor($) : ceil($)";
    case Kind::Round:
        return "round($)";
    case Kind::LogicalNot:
        return "$ == 0 ? N(1) : N(0)";
    case Kind::Sigmoid:
        return "N(1) / (N(1) + exp(-$))";
    case Kind::Softplus:
        return "softplus($)";
    case Kind::Softsign:
        return "$ / (N(1) + fabs($))";
    case Kind::Tanh:
        return "tanh($)";
    case Kind::Erf:
        return "erf($)";
    case Kind::Exp:
        return "exp($)";
    case Kind::Expm1:
        return "expm1($)";
    case Kind::Log:
        return "log($)";
    case Kind::Log10:
        return "log10($)";
    case Kind::Log1p:
        return "log1p($)";
    case Kind::Log2:
        return "log2($)";
    case Kind::Square:
        return "$ * $";
    case Kind::Sqrt:
        return "sqrt($)";
    case Kind::Rsqrt:
        return "N(1) / sqrt($)";
    case Kind::Cbrt:
        return "cbrt($)";
    case Kind::Rcbrt:
        return "N(1) / cbrt($)";
    case Kind::Reciprocal:
        return "N(1) / $";
    case Kind::Gamma:
        return "tgamma($)";
    case Kind::GammaLn:
        return "lgamma($)";
    case Kind::Sin:
        return "sin($)";
    case Kind::Cos:
        return "cos($)";
    case Kind::Tan:
        return "tan($)";
    case Kind::Arcsin:
        return "asin($)";
    case Kind::Arccos:
        return "acos($)";
    case Kind::Arctan:
        return "atan($)";
    case Kind::Sinh:
        return "sinh($)";
    case Kind::Cosh:
        return "cosh($)";
    case Kind::Arcsinh:
        return "asinh($)";
    case Kind::Arccosh:
        return "acosh($)";
    case Kind::Arctanh:
        return "atanh($)";
    case Kind::Degrees:
        return "$ * N(57.295779513082320876798154814105)";
    case Kind::Radians:
        return "$ / N(57.295779513082320876798154814105)";
    case Kind::RoundEven:
        return "rint($)";
    case Kind::HardSwish:
        return "$ * smaller(larger($ / N(6) + N(0.5), N(0)), N(1))";
    case Kind::Mish:
        return "$ * tanh(softplus($))";
    case Kind::GeluTanh:
        return "$ / 2 * (N(1) + tanh(N(0.79788456080286535588) * ($ + N(0.044715) * $ * $ * $)))";
    case Kind::IsNaN:
        return "$ != $ ? N(1) : N(0)";
    default:
        return {};
    }
}

std::string_view integerPattern(ops::UnaryKind kind)
{
    using Kind = ops::UnaryKind;
    switch (kind) {
    case Kind::Identity:
    case Kind::StopGradient:
    case Kind::MakeLoss:
        return "$";
    case Kind::Abs:
        return "$ < 0 ? -$ : $";
    case Kind::Negative:
        return "-$";
    case Kind::Relu:
        return "$ < 0 ? N(0) : $";
    case Kind::LogicalNot:
        return "$ == 0 ? N(1) : N(0)";
    default:
        return {};
    }
}

std::string_view binaryPattern(ops::BinaryKind kind, bool isFloat)
{
    using Kind = ops::BinaryKind;
    switch (kind) {
    case Kind::Add:
        return "$ + @";
    case Kind::Sub:
        return "$ - @";
    case Kind::Mul:
        return "$ * @";
    case Kind::Maximum:
        return "larger($, @)";
    case Kind::Minimum:
        return "smaller($, @)";
    case Kind::Equal:
        return "$ == @ ? N(1) : N(0)";
    case Kind::NotEqual:
        return "$ != @ ? N(1) : N(0)";
    case Kind::Greater:
        return "$ > @ ? N(1) : N(0)";
    case Kind::GreaterEqual:
        return "$ >= @ ? N(1) : N(0)";
    case Kind::Lesser:
        return "$ < @ ? N(1) : N(0)";
    case Kind::LesserEqual:
        return "$ <= @ ? N(1) : N(0)";
    case Kind::LogicalAnd:
        return "$ != 0 && @ != 0 ? N(1) : N(0)";
    case Kind::LogicalOr:
        return "$ != 0 || @ != 0 ? N(1) : N(0)";
    case Kind::LogicalXor:
        return "($ != 0) != (@ != 0) ? N(1) : N(0)";
    default:
        break;
    }
    if (!isFloat)
        return {};
    switch (kind) {
    case Kind::Div:
        return "$ / @";
    case Kind::Mod:
        return "remainder_of($, @)";
    case Kind::Power:
    case Kind::Pow:
        return "pow($, @)";
    case Kind::Hypot:
        return "hypot($, @)";
    case Kind::Fmod:
        return "fmod($, @)";
    default:
        return {};
    }
}

} // namespace halftone::backends::cuda
