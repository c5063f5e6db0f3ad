#include "core/backends/reference/kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

/// The contract is each distribution's definition, not MXNet's stream of numbers: the same operation draws the same
/// numbers in every run, in every step of a loop and with every type, so that a converted model can be compared with its
/// source.
namespace halftone::backends::reference {
namespace {

using ops::Distribution;
using Engine = std::mt19937_64;

/// A seed that is written is a float, as ONNX has it.
Engine engineOf(const kernels::Operation &operation, const std::optional<double> &seed = {})
{
    return Engine(seed ? std::bit_cast<std::uint32_t>(static_cast<float>(*seed)) : operation.seed);
}

/// Counts with the mean `rate`.
double poisson(double rate, Engine &engine)
{
    return rate > 0 ? static_cast<double>(std::poisson_distribution<std::int64_t>(rate)(engine)) : 0;
}

/// Poisson counts whose rate is itself drawn: mean `mean`, variance mean + dispersion · mean².
double dispersed(double mean, double dispersion, Engine &engine)
{
    if (mean <= 0 || dispersion <= 0)
        return poisson(mean, engine);
    // Rates that no count can follow would be refused here, and are as rare as they are useless.
    constexpr double kLargest = 1e15;
    const double rate = std::gamma_distribution<double>(1 / dispersion, mean * dispersion)(engine);
    return poisson(std::min(rate, kLargest), engine);
}

/// fails: parameters outside their distribution's range
Result<void> check(Distribution distribution, double first, double second)
{
    constexpr double kLargest = 1e15;
    const auto within = [](double value, double low, double high) { return value >= low && value <= high; };
    bool good = std::isfinite(first) && std::isfinite(second);
    switch (distribution) {
    case Distribution::Uniform:
        good = good && first <= second && std::isfinite(second - first);
        break;
    case Distribution::Normal:
        good = good && second >= 0;
        break;
    case Distribution::Gamma:
        good = good && first > 0 && second > 0;
        break;
    case Distribution::Exponential:
        good = good && first > 0;
        break;
    case Distribution::Poisson:
        good = within(first, 0, kLargest);
        break;
    case Distribution::NegativeBinomial:
        good = within(first, 0, kLargest) && second > 0 && second <= 1 && first / second <= kLargest;
        break;
    case Distribution::GeneralizedNegativeBinomial:
        good = within(first, 0, kLargest) && within(second, 0, kLargest);
        break;
    case Distribution::Integer:
        good = good && std::abs(first) <= kLargest && std::abs(second) <= kLargest && first < second;
        break;
    case Distribution::Bernoulli:
        good = within(first, 0, 1);
        break;
    case Distribution::Dirichlet:
        return unsupported({}, "drawing from a Dirichlet distribution");
    }
    return good ? Result<void>()
                : badInput("parameters", std::to_string(first) + ", " + std::to_string(second),
                           "parameters that the distribution has");
}

/// Needs: check()
double draw(Distribution distribution, double first, double second, Engine &engine)
{
    switch (distribution) {
    case Distribution::Uniform:
        return std::uniform_real_distribution<double>(0, 1)(engine) * (second - first) + first;
    case Distribution::Normal:
        return std::normal_distribution<double>()(engine) * second + first;
    case Distribution::Gamma:
        return std::gamma_distribution<double>(first, second)(engine);
    case Distribution::Exponential:
        return std::exponential_distribution<double>(first)(engine);
    case Distribution::Poisson:
        return poisson(first, engine);
    case Distribution::NegativeBinomial: // the failures until the first-th success: mean k (1 - p) / p
        return first > 0 ? dispersed(first * (1 - second) / second, 1 / first, engine) : 0;
    case Distribution::GeneralizedNegativeBinomial:
        return dispersed(first, second, engine);
    case Distribution::Integer:
        return static_cast<double>(std::uniform_int_distribution<std::int64_t>(
            static_cast<std::int64_t>(first), static_cast<std::int64_t>(second) - 1)(engine));
    case Distribution::Bernoulli:
        return std::uniform_real_distribution<double>(0, 1)(engine) < first ? 1 : 0;
    case Distribution::Dirichlet:
        break;
    }
    return 0;
}

} // namespace

template <class Real>
Result<void> compute(const ops::Random &op, const Arrays<Real> &arrays)
{
    HALFTONE_CHECK(check(op.distribution, op.first, op.second));
    Engine engine = engineOf(arrays.operation, op.seed);
    for (std::size_t i = 0; i < arrays.outCount(0) && !arrays.workers.stopped(); ++i)
        arrays.out[0][i] = static_cast<Real>(draw(op.distribution, op.first, op.second, engine));
    return {};
}

template <class Real>
Result<void> compute(const ops::RandomSample &op, const Arrays<Real> &arrays)
{
    Engine engine = engineOf(arrays.operation, op.seed);
    const std::size_t each = count(op.shape);
    Real *out = arrays.out[0];
    for (std::size_t p = 0; p < arrays.inCount(0) && !arrays.workers.stopped(); ++p) {
        const auto first = static_cast<double>(arrays.in[0][p]);
        const double second = arrays.in.size() > 1 ? static_cast<double>(arrays.in[1][p]) : 0;
        HALFTONE_CHECK(check(op.distribution, first, second));
        for (std::size_t i = 0; i < each; ++i)
            *out++ = static_cast<Real>(draw(op.distribution, first, second, engine));
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::Multinomial &op, const Arrays<Real> &arrays)
{
    Engine engine = engineOf(arrays.operation, op.seed);
    const auto classes = static_cast<std::size_t>(arrays.inDims(0).back());
    const std::size_t each = count(op.shape);
    std::vector<double> shares(classes); // of the row's chances
    std::vector<double> sums(classes); // of the chances up to each class
    std::size_t to = 0;
    for (std::size_t row = 0; row < arrays.inCount(0) / std::max<std::size_t>(classes, 1); ++row) {
        const Real *given = arrays.in[0] + row * classes;
        const double largest
            = op.ofLogarithms ? static_cast<double>(*std::max_element(given, given + classes)) : 0;
        std::transform(given, given + classes, shares.begin(), [&op, largest](Real chance) {
            const auto value = static_cast<double>(chance);
            return op.ofLogarithms ? std::exp(value - largest) : value;
        });
        std::partial_sum(shares.begin(), shares.end(), sums.begin());
        const bool good = std::ranges::all_of(shares, [](double share) { return share >= 0; });
        if (!good || !(sums.back() > 0) || !std::isfinite(sums.back()))
            return badInput("input 0", "row " + std::to_string(row),
                            "chances of 0 or more that are not all 0");
        for (std::size_t i = 0; i < each; ++i, ++to) {
            const double place = std::uniform_real_distribution<double>(0, sums.back())(engine);
            const auto found = std::min<std::ptrdiff_t>(std::ranges::upper_bound(sums, place) - sums.begin(),
                                                        static_cast<std::ptrdiff_t>(classes) - 1);
            if (arrays.out[0])
                arrays.out[0][to] = static_cast<Real>(found);
            if (arrays.out.size() > 1 && arrays.out[1])
                arrays.out[1][to] = static_cast<Real>(std::log(shares[static_cast<std::size_t>(found)]));
        }
    }
    return {};
}

Result<void> move(const ops::Shuffle &, const RawArrays &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const std::size_t rows = dims.empty() ? 1 : static_cast<std::size_t>(dims[0]);
    const std::size_t rowBytes
        = dims.empty() ? arrays.elementSize() : extent(dims, 1, dims.size()) * arrays.elementSize();
    std::vector<std::size_t> order(rows);
    std::iota(order.begin(), order.end(), std::size_t{0});
    Engine engine = engineOf(arrays.operation);
    std::ranges::shuffle(order, engine);
    for (std::size_t i = 0; i < rows && rowBytes > 0; ++i)
        std::memcpy(arrays.out[0] + i * rowBytes, arrays.in[0] + order[i] * rowBytes, rowBytes);
    return {};
}

HALFTONE_BOTH(Random)
HALFTONE_BOTH(RandomSample)
HALFTONE_BOTH(Multinomial)

} // namespace halftone::backends::reference
