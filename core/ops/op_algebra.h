#pragma once

#include "core/ops/op_types.h"

#include <cstdint>
#include <optional>
#include <string>

/// Linear algebra on the last two axes, and sums of products.
namespace halftone::ops {

struct LinearAlgebra
{
    enum class Kind : std::uint8_t {
        Cholesky, ///< A = L Lᵀ
        CholeskyInverse, ///< of A = L Lᵀ, given L
        Inverse,
        Determinant, ///< outputs: it, then scratch: LU factors and pivots
        LogDeterminant, ///< outputs: its sign, the logarithm of its magnitude, then the same scratch
        LogDiagonalSum,
        LowerOrthogonal, ///< outputs: Q, L of A = L Q
        SymmetricEigen, ///< outputs: vectors as rows, values
        Symmetric, ///< alpha · A Aᵀ, or Aᵀ A
        TriangularProduct, ///< alpha · A B, or B A; inputs A, B
        TriangularSolve, ///< alpha · A⁻¹ B, or B A⁻¹; inputs A, B
        ExtractDiagonal,
        MakeDiagonal,
        ExtractTriangle, ///< as a vector, row by row
        MakeTriangle,
    } kind
        = Kind::Cholesky;
    double alpha = 1;
    bool transpose = false; ///< of A
    bool rightSide = false; ///< A stands right of B
    bool lower = true; ///< which triangle
    std::int64_t offset = 0; ///< of the diagonal, or of the triangle's edge; above the main one when positive
    bool atLeastRank1 = true; ///< the number of a single matrix has shape (1,), not rank 0

    bool operator==(const LinearAlgebra &) const = default;
};

/// Kronecker product column by column: (rows₁, C), (rows₂, C), … to (rows₁ · rows₂ · …, C).
struct ColumnKronecker
{
    std::int64_t inputs = 0;

    bool operator==(const ColumnKronecker &) const = default;
};

/// Sums of products that an equation of letters spells, as NumPy's einsum reads it.
struct Einsum
{
    std::string equation{};

    bool operator==(const Einsum &) const = default;
};

} // namespace halftone::ops
