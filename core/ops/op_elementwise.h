#pragma once

#include "core/ops/op_types.h"

#include <cstdint>
#include <optional>

/// Operators that compute each element from the elements at its place.
namespace halftone::ops {

enum class UnaryKind : std::uint8_t
{
    // clang-format off
    Identity, StopGradient, MakeLoss, ZerosLike, OnesLike,
    Abs, Negative, Sign, Relu, Ceil, Floor, Fix, Rint, Round, Trunc, LogicalNot,
    Sigmoid, Softplus, Softsign, Tanh, Erf, ErfInv,
    Exp, Expm1, Log, Log10, Log1p, Log2, Square, Sqrt, Rsqrt, Cbrt, Rcbrt, Reciprocal, Gamma, GammaLn,
    Sin, Cos, Tan, Arcsin, Arccos, Arctan, Sinh, Cosh, Arcsinh, Arccosh, Arctanh, Degrees, Radians,
    DivideBySqrtDim, ///< x / sqrt(last dimension)
    RoundEven, ///< halves to the even neighbour
    HardSwish, ///< x · min(max(x / 6 + 1/2, 0), 1)
    Mish, ///< x · tanh(softplus(x))
    GeluTanh, ///< Gelu by way of tanh
    IsNaN,
    BitNot,
    SignOrNaN, ///< as Sign, whose result for NaN is 0; here it is NaN
    // clang-format on
};

/// A function of one element.
struct Unary
{
    UnaryKind kind = UnaryKind::Identity;

    bool operator==(const Unary &) const = default;
};

/// The same functions where a format has them as one operator with a choice (frameworks' lists tell the two
/// apart).
struct Activation
{
    UnaryKind kind = UnaryKind::Relu; ///< Relu, Sigmoid, Softplus, Softsign or Tanh

    bool operator==(const Activation &) const = default;
};

/// Activations with a slope. Selu is scale · (x > 0 ? x : slope · (e^x - 1)). PRelu has a second input, the slopes: one, or one a channel (axis 1), or any shape that
/// stretches to the data's.
struct LeakyRelu
{
    enum class Kind : std::uint8_t { Leaky, PRelu, Elu, Selu, Gelu, RandomRelu } kind = Kind::Leaky;
    double slope = 0.25; ///< Leaky, Elu, Selu
    double scale = 1; ///< Selu
    double lowerBound = 0.125; ///< RandomRelu
    double upperBound = 0.334; ///< RandomRelu
    bool stretches = false; ///< PRelu: the slopes stretch as those of Binary do

    bool operator==(const LeakyRelu &) const = default;
};

enum class BinaryKind : std::uint8_t
{
    // clang-format off
    Add, Sub, Mul, Div, Mod, Power, Maximum, Minimum, Hypot,
    Fmod, ///< the remainder with the dividend's sign
    Pow, ///< as Power, but integers exactly; the second may be of another type
    BitAnd, BitOr, BitXor, ShiftLeft, ShiftRight,
    Equal, NotEqual, Greater, GreaterEqual, Lesser, LesserEqual, LogicalAnd, LogicalOr, LogicalXor,
    // clang-format on
};

struct Binary
{
    BinaryKind kind = BinaryKind::Add;
    bool broadcast = false; ///< dimensions of 1 stretch; otherwise both shapes are equal

    bool operator==(const Binary &) const = default;
};

/// An element and a constant.
struct ScalarBinary
{
    BinaryKind kind = BinaryKind::Add;
    bool reversed = false; ///< constant on the left: c - x
    double scalar = 1;
    bool scalarIsInteger = true; ///< decides the type that an integer tensor gives

    bool operator==(const ScalarBinary &) const = default;
};

/// Functions of one element with parameters.
struct Curve
{
    enum class Kind : std::uint8_t {
        Celu, ///< max(0, x) + min(0, alpha · (e^(x / alpha) - 1))
        ThresholdedRelu, ///< x > alpha ? x : 0
        Shrink, ///< x < -alpha ? x + beta : x > alpha ? x - beta : 0
        Swish, ///< x · sigmoid(alpha · x)
    } kind
        = Kind::Celu;
    double alpha = 1;
    double beta = 1;

    bool operator==(const Curve &) const = default;
};

/// Is the element an infinity of one of these signs?
struct IsInf
{
    bool negative = true;
    bool positive = true;

    bool operator==(const IsInf &) const = default;
};

/// min(max(x, low), high), the bounds being inputs of one element. Inputs: data[, low][, high].
struct ClipBetween
{
    bool hasLow = true;
    bool hasHigh = true;

    bool operator==(const ClipBetween &) const = default;
};

/// All inputs joined.
struct Join
{
    enum class Kind : std::uint8_t { Maximum, Minimum, Sum, Mean } kind = Kind::Sum;
    std::int64_t inputs = 0;
    bool broadcast = false; ///< they stretch as those of Binary do; otherwise they have one shape

    bool operator==(const Join &) const = default;
};

struct Clip
{
    double low = 0;
    double high = 0;

    bool operator==(const Clip &) const = default;
};

/// min(max(alpha · x + beta, 0), 1).
struct HardSigmoid
{
    double alpha = 0.2;
    double beta = 0.5;

    bool operator==(const HardSigmoid &) const = default;
};

/// (sigma x)² / 2 near 0, |x| - 1 / (2 sigma²) beyond 1 / sigma².
struct SmoothL1
{
    std::optional<double> sigma{}; ///< 1 when not given

    bool operator==(const SmoothL1 &) const = default;
};

/// Inputs: condition, value where it is not 0, value where it is. The condition has their shape, or is a
/// vector along axis 0.
struct Where
{
    bool broadcast = false; ///< all three stretch instead

    bool operator==(const Where &) const = default;
};

/// Outputs: data, [mask].
struct Dropout
{
    double p = 0.5;
    Dims axes{}; ///< along which the mask is shared
    bool always = false; ///< also outside training

    bool operator==(const Dropout &) const = default;
};

struct Cast
{
    DType dtype = DType::Unknown;
    bool floatsOnly = false; ///< float64 and integers pass unchanged (amp_cast)
    /// Where the result is float8: what is beyond the range, infinities too, becomes the end of it. Source: ONNX operator Cast.
    bool saturates = false;

    bool operator==(const Cast &) const = default;
};

/// Brings all floating inputs to one type; input k gives output k.
struct MultiCast
{
    std::int64_t inputs = 0;
    bool narrow = false; ///< to the narrowest type instead of the widest

    bool operator==(const MultiCast &) const = default;
};

} // namespace halftone::ops
