#include "core/backends/reference/decomposition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace halftone::backends::reference {
namespace {

/// Rotates rows or columns p and q: entries `step` apart, lines beginning at p and q.
void rotate(std::vector<double> &a, std::size_t p, std::size_t q, std::size_t step, std::size_t count,
            double c, double s)
{
    for (std::size_t k = 0; k < count; ++k) {
        double &x = a[p + k * step];
        double &y = a[q + k * step];
        const double old = x;
        x = c * old - s * y;
        y = s * old + c * y;
    }
}

/// Sum of squares beside the diagonal.
double offDiagonal(const std::vector<double> &a, std::size_t side)
{
    double sum = 0;
    for (std::size_t r = 0; r < side; ++r)
        for (std::size_t c = 0; c < r; ++c)
            sum += 2 * a[r * side + c] * a[r * side + c];
    return sum;
}

/// One rotation that makes a[p][q] zero; `vectors` gathers the rotations in its rows.
void annihilate(std::vector<double> &a, std::vector<double> &vectors, std::size_t side, std::size_t p,
                std::size_t q)
{
    const double apq = a[p * side + q];
    if (apq == 0)
        return;
    const double tau = (a[q * side + q] - a[p * side + p]) / (2 * apq);
    const double t = (tau >= 0 ? 1 : -1) / (std::abs(tau) + std::sqrt(1 + tau * tau));
    const double c = 1 / std::sqrt(1 + t * t);
    const double s = t * c;
    rotate(a, p, q, side, side, c, s);
    rotate(a, p * side, q * side, 1, side, c, s);
    rotate(vectors, p * side, q * side, 1, side, c, s);
}

/// x - beta · e1 of a reflection that maps x to beta · e1, and 2 / its square; 0 where x is that already.
double reflector(double *x, std::size_t count, double &beta)
{
    double rest = 0;
    for (std::size_t k = 1; k < count; ++k)
        rest += x[k] * x[k];
    beta = x[0];
    if (rest == 0)
        return 0;
    beta = -std::copysign(std::sqrt(x[0] * x[0] + rest), x[0]);
    x[0] -= beta;
    return 2 / (x[0] * x[0] + rest);
}

void reflect(double *row, const double *v, std::size_t count, double factor)
{
    const double along = factor * std::inner_product(row, row + count, v, 0.0);
    for (std::size_t k = 0; k < count; ++k)
        row[k] -= along * v[k];
}

} // namespace

Eigen symmetricEigen(std::vector<double> a, std::size_t side, bool lower)
{
    for (std::size_t r = 0; r < side; ++r)
        for (std::size_t c = 0; c < r; ++c)
            (lower ? a[c * side + r] : a[r * side + c]) = lower ? a[r * side + c] : a[c * side + r];
    std::vector<double> vectors(side * side);
    for (std::size_t k = 0; k < side; ++k)
        vectors[k * side + k] = 1;
    const double scale = std::inner_product(a.begin(), a.end(), a.begin(), 0.0);
    constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
    constexpr int kMostSweeps = 60; // it converges quadratically: some ten do, and NaN never
    for (int sweep = 0; sweep < kMostSweeps && offDiagonal(a, side) > kEpsilon * kEpsilon * scale; ++sweep)
        for (std::size_t q = 1; q < side; ++q)
            for (std::size_t p = 0; p < q; ++p)
                annihilate(a, vectors, side, p, q);
    std::vector<std::size_t> order(side);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return a[k * side + k]; });
    Eigen result;
    for (const std::size_t k : order) {
        result.values.push_back(a[k * side + k]);
        const auto row = vectors.begin() + static_cast<std::ptrdiff_t>(k * side);
        const auto end = row + static_cast<std::ptrdiff_t>(side);
        const double largest
            = *std::max_element(row, end, [](double x, double y) { return std::abs(x) < std::abs(y); });
        std::transform(row, end, std::back_inserter(result.vectors),
                       [largest](double value) { return largest < 0 ? -value : value; });
    }
    return result;
}

LowerOrthogonal lowerOrthogonal(std::vector<double> a, std::size_t rows, std::size_t columns)
{
    LowerOrthogonal result{std::vector<double>(rows * rows), std::vector<double>(rows * columns)};
    std::vector<double> factors(rows);
    for (std::size_t k = 0; k < rows; ++k) {
        double *const v = &a[k * columns + k];
        for (std::size_t c = 0; c < k; ++c)
            result.lower[k * rows + c] = a[k * columns + c];
        factors[k] = reflector(v, columns - k, result.lower[k * rows + k]);
        for (std::size_t r = k + 1; r < rows; ++r)
            reflect(&a[r * columns + k], v, columns - k, factors[k]);
    }
    for (std::size_t r = 0; r < rows; ++r) {
        result.orthogonal[r * columns + r] = 1;
        for (std::size_t k = rows; k-- > 0;)
            reflect(&result.orthogonal[r * columns + k], &a[k * columns + k], columns - k, factors[k]);
    }
    return result;
}

} // namespace halftone::backends::reference
