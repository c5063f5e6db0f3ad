#include "core/dialect/mxnet/operator_describe.h"

#include <algorithm>
#include <cmath>

namespace halftone::dialect::mxnet {
namespace {

/// A parameter that MXNet holds as an integer. The struct has numbers below 2^53, which a double holds exactly.
void whole(OperatorFields &f, std::string_view key, double &value)
{
    constexpr double kExact = 9007199254740992.0;
    if (!(std::abs(value) <= kExact) || std::floor(value) != value)
        return f.fail(key, std::to_string(value), "an integer");
    auto integer = static_cast<std::int64_t>(value);
    f.integer(key, integer);
    value = static_cast<double>(integer);
}

void describeParameters(OperatorFields &f, ops::Random &op)
{
    using ops::Distribution;
    switch (op.distribution) {
    case Distribution::Uniform:
        f.real("low", op.first);
        return f.real("high", op.second);
    case Distribution::Normal:
        f.real("loc", op.first);
        return f.real("scale", op.second);
    case Distribution::Gamma:
        f.real("alpha", op.first);
        return f.real("beta", op.second);
    case Distribution::Exponential:
    case Distribution::Poisson:
        return f.real("lam", op.first);
    case Distribution::NegativeBinomial:
        whole(f, "k", op.first);
        return f.real("p", op.second);
    case Distribution::GeneralizedNegativeBinomial:
        f.real("mu", op.first);
        return f.real("alpha", op.second);
    case Distribution::Integer:
        whole(f, "low", op.first);
        return whole(f, "high", op.second);
    case Distribution::Dirichlet:
    case Distribution::Bernoulli:
        break;
    }
}

} // namespace

void describe(OperatorFields &f, ops::Random &op)
{
    describeParameters(f, op);
    if (op.like)
        return;
    // MXNet 1.x writes an unknown dimension as 0.
    if (op.shape)
        std::ranges::replace(*op.shape, std::int64_t{-1}, std::int64_t{0});
    f.optionalTuple("shape", op.shape);
    if (op.shape)
        std::ranges::replace(*op.shape, std::int64_t{0}, std::int64_t{-1});
    f.dtype("dtype", op.dtype);
}

void describe(OperatorFields &f, ops::RandomSample &op)
{
    f.tuple("shape", op.shape);
    f.dtype("dtype", op.dtype);
}

void describe(OperatorFields &f, ops::Multinomial &op)
{
    f.tuple("shape", op.shape);
    f.boolean("get_prob", op.logLikelihood);
    f.dtype("dtype", op.dtype);
}

void describe(OperatorFields &f, ops::Density &op)
{
    f.boolean("is_log", op.logarithm);
}

void describe(OperatorFields &, ops::Shuffle &) { }

} // namespace halftone::dialect::mxnet
