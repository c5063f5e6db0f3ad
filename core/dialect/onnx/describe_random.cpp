#include "core/dialect/onnx/operator_rows.h"

#include <array>
#include <string>

/// Operators that draw random numbers. A seed that is not written is that of the node's name.
namespace halftone::dialect::onnx {
namespace {

using ops::Distribution;
using ops::Operator;

template <Distribution kDistribution, bool kIsLike>
Operator random(NodeReader &in)
{
    constexpr bool kIsNormal = kDistribution == Distribution::Normal;
    ops::Random op;
    op.distribution = kDistribution;
    op.first = in.real(kIsNormal ? "mean" : "low", 0);
    op.second = in.real(kIsNormal ? "scale" : "high", 1);
    op.like = kIsLike;
    if (!kIsLike)
        op.shape = in.integers("shape");
    op.dtype = in.type("dtype");
    op.seed = in.optionalReal("seed");
    return op;
}

Operator bernoulli(NodeReader &in)
{
    return ops::RandomSample{Distribution::Bernoulli, {}, in.type("dtype"), in.optionalReal("seed")};
}

Operator multinomial(NodeReader &in)
{
    ops::Multinomial op;
    op.shape = {in.integer("sample_size", 1)};
    if (op.shape[0] < 1)
        in.fail("sample_size", std::to_string(op.shape[0]), "1 or more");
    op.ofLogarithms = true;
    op.seed = in.optionalReal("seed");
    return op;
}

} // namespace

std::span<const OperatorRow> randomRows()
{
    static constexpr std::array kRows{
        OperatorRow{"RandomUniform", random<Distribution::Uniform, false>},
        OperatorRow{"RandomUniformLike", random<Distribution::Uniform, true>},
        OperatorRow{"RandomNormal", random<Distribution::Normal, false>},
        OperatorRow{"RandomNormalLike", random<Distribution::Normal, true>},
        OperatorRow{"Bernoulli", bernoulli},
        OperatorRow{"Multinomial", multinomial},
    };
    return kRows;
}

} // namespace halftone::dialect::onnx
