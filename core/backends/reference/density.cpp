#include "core/backends/reference/kernels.h"

#include <cmath>
#include <numbers>

namespace halftone::backends::reference {
namespace {

using ops::Distribution;

double logNegativeBinomial(double x, double failures, double chance)
{
    return std::lgamma(x + failures) - std::lgamma(x + 1) - std::lgamma(failures)
        + failures * std::log(chance) + x * std::log1p(-chance);
}

/// The logarithm of the density at `x`, or of the chance of the count `x`. As MXNet has it: what lies outside a uniform
/// distribution's range is not looked at.
double logDensity(Distribution distribution, double x, double first, double second)
{
    switch (distribution) {
    case Distribution::Uniform:
        return -std::log(second - first);
    case Distribution::Normal: {
        const double distance = (x - first) / second;
        return -0.5 * distance * distance - std::log(second * std::sqrt(2 * std::numbers::pi));
    }
    case Distribution::Gamma: // the second parameter is a rate here, whereas a sampler's is a scale
        return first * std::log(second) + (first - 1) * std::log(x) - second * x - std::lgamma(first);
    case Distribution::Exponential:
        return std::log(first) - first * x;
    case Distribution::Poisson:
        return x * std::log(first) - std::lgamma(x + 1) - first;
    case Distribution::NegativeBinomial:
        return logNegativeBinomial(x, first, second);
    case Distribution::GeneralizedNegativeBinomial:
        return logNegativeBinomial(x, 1 / second, 1 / (first * second + 1));
    case Distribution::Integer:
    case Distribution::Dirichlet:
    case Distribution::Bernoulli:
        break;
    }
    return std::nan("");
}

template <class Real>
double logDirichlet(const Real *sample, const Real *concentrations, std::size_t size)
{
    double total = 0;
    double result = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const auto concentration = static_cast<double>(concentrations[i]);
        total += concentration;
        result += (concentration - 1) * std::log(static_cast<double>(sample[i])) - std::lgamma(concentration);
    }
    return result + std::lgamma(total);
}

} // namespace

template <class Real>
Result<void> compute(const ops::Density &op, const Arrays<Real> &arrays)
{
    const bool vectors = op.distribution == Distribution::Dirichlet;
    if (op.distribution == Distribution::Integer || op.distribution == Distribution::Bernoulli)
        return unsupported({}, "a density of whole numbers between bounds");
    const std::size_t size
        = vectors && !arrays.inDims(0).empty() ? static_cast<std::size_t>(arrays.inDims(0).back()) : 1;
    const std::size_t sets = size > 0 ? arrays.inCount(1) / size : 0;
    const std::size_t samples = arrays.outCount(0);
    if (samples == 0)
        return {};
    if (sets == 0 || samples % sets != 0)
        return badInput("input 1", arrays.operation.inputs[1].shape.toString(),
                        "parameters whose shape is how the samples' begins");
    for (std::size_t i = 0; i < samples; ++i) {
        const std::size_t set = i / (samples / sets);
        const double log = vectors
            ? logDirichlet(arrays.in[0] + i * size, arrays.in[1] + set * size, size)
            : logDensity(op.distribution, static_cast<double>(arrays.in[0][i]),
                         static_cast<double>(arrays.in[1][set]),
                         arrays.in.size() > 2 ? static_cast<double>(arrays.in[2][set]) : 0);
        arrays.out[0][i] = static_cast<Real>(op.logarithm ? log : std::exp(log));
    }
    return {};
}

HALFTONE_BOTH(Density)

} // namespace halftone::backends::reference
