#include "core/backends/reference/decomposition.h"
#include "core/backends/reference/kernels.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace halftone::backends::reference {
namespace {

using Kind = ops::LinearAlgebra::Kind;

/// A matrix of doubles: sums of these operators cancel.
struct Matrix
{
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<double> values;

    Matrix(std::size_t height, std::size_t width)
        : rows(height)
        , columns(width)
        , values(height * width)
    {
    }
    template <class Real>
    Matrix(const Real *from, DimSpan dims)
        : Matrix(static_cast<std::size_t>(dims[dims.size() - 2]), static_cast<std::size_t>(dims.back()))
    {
        std::copy_n(from, values.size(), values.begin());
    }

    double &at(std::size_t r, std::size_t c) { return values[r * columns + c]; }
    double at(std::size_t r, std::size_t c) const { return values[r * columns + c]; }

    Matrix transposed() const
    {
        Matrix result(columns, rows);
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t c = 0; c < columns; ++c)
                result.at(c, r) = at(r, c);
        return result;
    }
};

Matrix product(const Matrix &a, const Matrix &b, double alpha = 1)
{
    Matrix result(a.rows, b.columns);
    for (std::size_t r = 0; r < a.rows; ++r)
        for (std::size_t k = 0; k < a.columns; ++k)
            for (std::size_t c = 0; c < b.columns; ++c)
                result.at(r, c) += alpha * a.at(r, k) * b.at(k, c);
    return result;
}

/// The matrix with zeros beyond its triangle.
Matrix triangleOf(Matrix a, bool lower)
{
    for (std::size_t r = 0; r < a.rows; ++r)
        for (std::size_t c = 0; c < a.columns; ++c)
            if (lower ? c > r : c < r)
                a.at(r, c) = 0;
    return a;
}

Error singular(const char *expected)
{
    return badInput("input 0", "a matrix that is singular or not what the operator takes", expected);
}

/// L of A = L Lᵀ, from A's lower triangle.
Result<Matrix> cholesky(const Matrix &a)
{
    Matrix l(a.rows, a.rows);
    for (std::size_t r = 0; r < a.rows; ++r) {
        for (std::size_t c = 0; c <= r; ++c) {
            double rest = a.at(r, c);
            for (std::size_t k = 0; k < c; ++k)
                rest -= l.at(r, k) * l.at(c, k);
            if (r != c)
                l.at(r, c) = rest / l.at(c, c);
            else if (!(rest > 0))
                return singular("a positive definite matrix");
            else
                l.at(r, r) = std::sqrt(rest);
        }
    }
    return l;
}

/// X of A X = B, and A's determinant as sign and logarithm of its magnitude; elimination with row pivots.
struct Solved
{
    Matrix x;
    double sign = 1;
    double logMagnitude = 0;
};

Solved solve(Matrix a, Matrix b)
{
    Solved result{std::move(b)};
    const auto swapRows = [](Matrix &m, std::size_t i, std::size_t j) {
        std::swap_ranges(&m.values[i * m.columns], &m.values[i * m.columns] + m.columns,
                         &m.values[j * m.columns]);
    };
    const auto subtract = [](Matrix &m, std::size_t to, std::size_t from, double factor) {
        for (std::size_t c = 0; c < m.columns; ++c)
            m.at(to, c) -= factor * m.at(from, c);
    };
    for (std::size_t k = 0; k < a.rows; ++k) {
        std::size_t pivot = k;
        for (std::size_t r = k + 1; r < a.rows; ++r)
            pivot = std::abs(a.at(r, k)) > std::abs(a.at(pivot, k)) ? r : pivot;
        if (a.at(pivot, k) == 0)
            return {std::move(result.x), 0, -HUGE_VAL};
        if (pivot != k) {
            swapRows(a, k, pivot);
            if (result.x.columns > 0)
                swapRows(result.x, k, pivot);
            result.sign = -result.sign;
        }
        const double head = a.at(k, k);
        result.sign *= head < 0 ? -1 : 1;
        result.logMagnitude += std::log(std::abs(head));
        for (std::size_t r = 0; r < a.rows; ++r) {
            const double factor = a.at(r, k) / head;
            if (r == k || factor == 0)
                continue;
            subtract(a, r, k, factor);
            subtract(result.x, r, k, factor);
        }
    }
    for (std::size_t r = 0; r < a.rows; ++r)
        for (std::size_t c = 0; c < result.x.columns; ++c)
            result.x.at(r, c) /= a.at(r, r);
    return result;
}

Matrix identity(std::size_t side)
{
    Matrix result(side, side);
    for (std::size_t i = 0; i < side; ++i)
        result.at(i, i) = 1;
    return result;
}

Result<Matrix> inverse(const Matrix &a)
{
    Solved solved = solve(a, identity(a.rows));
    if (solved.sign == 0)
        return singular("a matrix that can be inverted");
    return std::move(solved.x);
}

Result<Matrix> squareResult(const ops::LinearAlgebra &op, const Matrix &a)
{
    switch (op.kind) {
    case Kind::Cholesky: {
        HALFTONE_TRY(Matrix l, cholesky(op.lower ? a : a.transposed()));
        return op.lower ? std::move(l) : l.transposed();
    }
    case Kind::CholeskyInverse: {
        const Matrix l = triangleOf(a, op.lower);
        return inverse(op.lower ? product(l, l.transposed()) : product(l.transposed(), l));
    }
    case Kind::Inverse:
        return inverse(a);
    case Kind::Symmetric:
        return op.transpose ? product(a.transposed(), a, op.alpha) : product(a, a.transposed(), op.alpha);
    default:
        return unsupported({}, "this operator of linear algebra has no kernel");
    }
}

Result<Matrix> triangular(const ops::LinearAlgebra &op, const Matrix &a, const Matrix &b)
{
    Matrix factor = triangleOf(a, op.lower);
    if (op.transpose)
        factor = factor.transposed();
    if (op.kind == Kind::TriangularProduct)
        return op.rightSide ? product(b, factor, op.alpha) : product(factor, b, op.alpha);
    // X A = B is Aᵀ Xᵀ = Bᵀ.
    Solved solved = op.rightSide ? solve(factor.transposed(), b.transposed()) : solve(factor, b);
    if (solved.sign == 0)
        return singular("a triangle without zeros on its diagonal");
    for (double &value : solved.x.values)
        value *= op.alpha;
    return op.rightSide ? solved.x.transposed() : std::move(solved.x);
}

/// Places of a square matrix's diagonal or triangle: a lower one row by row, an upper one column by column. An offset other
/// than 0 says by its sign which triangle.
std::vector<std::size_t> placesOf(const ops::LinearAlgebra &op, std::size_t side)
{
    const bool isDiagonal = op.kind == Kind::ExtractDiagonal || op.kind == Kind::MakeDiagonal;
    const bool lower = op.offset == 0 ? op.lower : op.offset < 0;
    std::vector<std::size_t> places;
    for (std::size_t outer = 0; outer < side; ++outer) {
        for (std::size_t inner = 0; inner < side; ++inner) {
            const std::size_t r = lower ? outer : inner;
            const std::size_t c = lower ? inner : outer;
            const std::int64_t above = static_cast<std::int64_t>(c) - static_cast<std::int64_t>(r);
            if (isDiagonal ? above == op.offset : lower ? above <= op.offset : above >= op.offset)
                places.push_back(r * side + c);
        }
    }
    return places;
}

template <class Real>
void pickPlaces(const ops::LinearAlgebra &op, const Arrays<Real> &arrays)
{
    const bool extracts = op.kind == Kind::ExtractDiagonal || op.kind == Kind::ExtractTriangle;
    const auto side = static_cast<std::size_t>((extracts ? arrays.inDims(0) : arrays.outDims(0)).back());
    const std::vector<std::size_t> places = placesOf(op, side);
    if (!extracts)
        std::fill_n(arrays.out[0], arrays.outCount(0), Real(0));
    const std::size_t matrices
        = (extracts ? arrays.inCount(0) : arrays.outCount(0)) / std::max<std::size_t>(side * side, 1);
    for (std::size_t n = 0; n < matrices; ++n) {
        for (std::size_t i = 0; i < places.size(); ++i) {
            const std::size_t inMatrix = n * side * side + places[i];
            const std::size_t inVector = n * places.size() + i;
            if (extracts)
                arrays.out[0][inVector] = arrays.in[0][inMatrix];
            else
                arrays.out[0][inMatrix] = arrays.in[0][inVector];
        }
    }
}

/// Operators that give a number or two for each matrix; what follows those is scratch.
template <class Real>
void putNumbers(const ops::LinearAlgebra &op, const Matrix &a, std::size_t n, const Arrays<Real> &arrays)
{
    if (op.kind == Kind::LogDiagonalSum) {
        double sum = 0;
        for (std::size_t i = 0; i < a.rows; ++i)
            sum += std::log(a.at(i, i));
        arrays.out[0][n] = static_cast<Real>(sum);
        return;
    }
    const Solved solved = solve(a, Matrix(a.rows, 0));
    const bool isLog = op.kind == Kind::LogDeterminant;
    if (arrays.out[0])
        arrays.out[0][n]
            = static_cast<Real>(isLog ? solved.sign : solved.sign * std::exp(solved.logMagnitude));
    if (isLog && arrays.out[1])
        arrays.out[1][n] = static_cast<Real>(solved.logMagnitude);
}

} // namespace

template <class Real>
Result<void> compute(const ops::LinearAlgebra &op, const Arrays<Real> &arrays)
{
    switch (op.kind) {
    case Kind::ExtractDiagonal:
    case Kind::MakeDiagonal:
    case Kind::ExtractTriangle:
    case Kind::MakeTriangle:
        pickPlaces(op, arrays);
        return {};
    default:
        break;
    }
    const DimSpan dims = arrays.inDims(0);
    const std::size_t step = extent(dims, dims.size() - 2, dims.size());
    const std::size_t matrices = extent(dims, 0, dims.size() - 2);
    const bool givesNumbers
        = op.kind == Kind::Determinant || op.kind == Kind::LogDeterminant || op.kind == Kind::LogDiagonalSum;
    for (std::size_t o = givesNumbers ? 1 : arrays.out.size(); o < arrays.out.size(); ++o) {
        if (arrays.out[o])
            std::fill_n(arrays.out[o], arrays.outCount(o), Real(0));
    }
    const auto put = [&arrays](std::size_t output, const std::vector<double> &values, std::size_t matrix) {
        if (arrays.out[output] == nullptr)
            return;
        std::ranges::transform(values, arrays.out[output] + matrix * values.size(),
                               [](double value) { return static_cast<Real>(value); });
    };
    for (std::size_t n = 0; n < matrices && !arrays.workers.stopped(); ++n) {
        const Matrix a(arrays.in[0] + n * step, dims);
        if (op.kind == Kind::SymmetricEigen) {
            const Eigen eigen = symmetricEigen(a.values, a.rows, op.lower);
            put(0, eigen.vectors, n);
            put(1, eigen.values, n);
            continue;
        }
        if (op.kind == Kind::LowerOrthogonal) {
            const LowerOrthogonal factors = lowerOrthogonal(a.values, a.rows, a.columns);
            put(0, factors.orthogonal, n);
            put(1, factors.lower, n);
            continue;
        }
        if (givesNumbers) {
            putNumbers(op, a, n, arrays);
            continue;
        }
        const bool hasTwo = op.kind == Kind::TriangularProduct || op.kind == Kind::TriangularSolve;
        HALFTONE_TRY(const Matrix result,
                     hasTwo ? triangular(
                         op, a, Matrix(arrays.in[1] + n * (arrays.inCount(1) / matrices), arrays.inDims(1)))
                            : squareResult(op, a));
        put(0, result.values, n);
    }
    return {};
}

HALFTONE_BOTH(LinearAlgebra)

} // namespace halftone::backends::reference
