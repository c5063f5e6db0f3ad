#pragma once

#include "core/ops/op_elementwise.h"

#include <algorithm>
#include <cmath>

namespace halftone::backends::reference {

/// x with erf(x) = y.
double inverseErf(double y);

/// One function of one element, as MXNet defines it. DivideBySqrtDim is not of one element alone.
template <class Real>
Real apply(ops::UnaryKind kind, Real x)
{
    using Kind = ops::UnaryKind;
    constexpr Real kDegrees = static_cast<Real>(57.295779513082320876798154814105);
    switch (kind) {
    case Kind::Identity:
    case Kind::StopGradient:
    case Kind::MakeLoss:
    case Kind::DivideBySqrtDim:
        return x;
    case Kind::ZerosLike:
        return 0;
    case Kind::OnesLike:
        return 1;
    case Kind::Abs:
        return std::abs(x);
    case Kind::Negative:
        return -x;
    case Kind::Sign:
        return x > 0 ? Real(1) : x < 0 ? Real(-1) : Real(0); // of a NaN too
    case Kind::SignOrNaN:
        return std::isnan(x) ? x : apply(Kind::Sign, x);
    case Kind::Relu:
        return x < 0 ? Real(0) : x; // a NaN stays
    case Kind::Ceil:
        return std::ceil(x);
    case Kind::Floor:
        return std::floor(x);
    case Kind::Fix:
    case Kind::Trunc:
        return std::trunc(x);
    case Kind::Rint: // halves go down, MXNet's choice
        return x - std::floor(x) <= std::ceil(x) - x ? std::floor(x) : std::ceil(x);
    case Kind::Round:
        return std::round(x);
    case Kind::LogicalNot:
        return x == 0 ? Real(1) : Real(0);
    case Kind::Sigmoid:
        return Real(1) / (Real(1) + std::exp(-x));
    case Kind::Softplus:
        return x > 20 ? x : std::log1p(std::exp(x));
    case Kind::Softsign:
        return x / (Real(1) + std::abs(x));
    case Kind::Tanh:
        return std::tanh(x);
    case Kind::Erf:
        return std::erf(x);
    case Kind::ErfInv:
        return static_cast<Real>(inverseErf(static_cast<double>(x)));
    case Kind::Exp:
        return std::exp(x);
    case Kind::Expm1:
        return std::expm1(x);
    case Kind::Log:
        return std::log(x);
    case Kind::Log10:
        return std::log10(x);
    case Kind::Log1p:
        return std::log1p(x);
    case Kind::Log2:
        return std::log2(x);
    case Kind::Square:
        return x * x;
    case Kind::Sqrt:
        return std::sqrt(x);
    case Kind::Rsqrt:
        return Real(1) / std::sqrt(x);
    case Kind::Cbrt:
        return std::cbrt(x);
    case Kind::Rcbrt:
        return Real(1) / std::cbrt(x);
    case Kind::Reciprocal:
        return Real(1) / x;
    case Kind::Gamma:
        return std::tgamma(x);
    case Kind::GammaLn:
        return std::lgamma(x);
    case Kind::Sin:
        return std::sin(x);
    case Kind::Cos:
        return std::cos(x);
    case Kind::Tan:
        return std::tan(x);
    case Kind::Arcsin:
        return std::asin(x);
    case Kind::Arccos:
        return std::acos(x);
    case Kind::Arctan:
        return std::atan(x);
    case Kind::Sinh:
        return std::sinh(x);
    case Kind::Cosh:
        return std::cosh(x);
    case Kind::Arcsinh:
        return std::asinh(x);
    case Kind::Arccosh:
        return std::acosh(x);
    case Kind::Arctanh:
        return std::atanh(x);
    case Kind::Degrees:
        return x * kDegrees;
    case Kind::Radians:
        return x / kDegrees;
    case Kind::RoundEven:
        return std::nearbyint(x);
    case Kind::HardSwish:
        return x * std::min(std::max(x / 6 + Real(0.5), Real(0)), Real(1));
    case Kind::Mish:
        return x * std::tanh(apply(Kind::Softplus, x));
    case Kind::GeluTanh: // sqrt(2 / pi)
        return x / 2 * (Real(1) + std::tanh(Real(0.79788456080286535588) * (x + Real(0.044715) * x * x * x)));
    case Kind::IsNaN:
        return std::isnan(x) ? Real(1) : Real(0);
    case Kind::BitNot:
        return -x - 1; // of integers, which are computed as such
    }
    return x;
}

} // namespace halftone::backends::reference
