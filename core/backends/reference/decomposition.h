#pragma once

#include <cstddef>
#include <vector>

/// Decompositions of one row-major matrix, in double.
namespace halftone::backends::reference {

struct Eigen
{
    std::vector<double> values; ///< ascending
    std::vector<double> vectors; ///< as rows, each with its entry of largest magnitude positive
};

/// Of the symmetric matrix whose lower triangle `a` holds, by cyclic Jacobi rotations (Golub and Van Loan, "Matrix
/// Computations", section 8.5).
Eigen symmetricEigen(std::vector<double> a, std::size_t side, bool lower);

struct LowerOrthogonal
{
    std::vector<double> lower; ///< rows × rows
    std::vector<double> orthogonal; ///< rows × columns, rows orthonormal
};

/// a = lower · orthogonal, by Householder reflections of the rows with LAPACK's signs. Needs: rows <= columns
LowerOrthogonal lowerOrthogonal(std::vector<double> a, std::size_t rows, std::size_t columns);

} // namespace halftone::backends::reference
