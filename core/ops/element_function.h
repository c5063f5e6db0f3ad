#pragma once

#include <cstdint>
#include <optional>

namespace halftone::ops {

class Operator;

/// A function of one element in a form that kernels understand: what formats' operators of many names come down to.
struct ElementFunction
{
    enum class Kind : std::uint8_t {
        Relu, ///< x > 0 ? x : alpha · x
        Elu, ///< x > 0 ? x : alpha · (e^x - 1)
        Sigmoid,
        Tanh,
        Softplus, ///< ln(1 + e^x)
        GeluErf,
        Abs,
        Square,
        Sqrt,
        Exp,
        Log,
        Linear, ///< alpha · x + beta
        Clip, ///< min(max(x, alpha), beta)
        Power, ///< alpha · x^beta
        HardSigmoid, ///< min(max(alpha · x + beta, 0), 1)
    } kind
        = Kind::Linear;
    float alpha = 0;
    float beta = 0;

    bool isRelu() const { return kind == Kind::Relu && alpha == 0; }
    bool operator==(const ElementFunction &) const = default;
};

/// Nothing for an operator that is no such function: one that looks at other elements, at a type, or whose value none of
/// the kinds gives.
std::optional<ElementFunction> elementFunction(const Operator &op);

double valueOf(const ElementFunction &function, double x);

} // namespace halftone::ops
