#pragma once

#include "core/backends/onednn/loops/code_kernel.h"

#include <cstddef>
#include <cstdint>

/// The inner loops of recurrent layers whose weights are codes of 8 bits: products of codes whose sums are exact, and codes of what
/// changes from step to step. Columns lie in whole vectors of kRecurrentLanes, gate after gate.
namespace halftone::backends::onednn {

/// Codes lie in words of so many, which one instruction multiplies.
inline constexpr std::size_t kWordCodes = 4;

constexpr std::size_t wholeWords(std::size_t codes)
{
    return (codes + kWordCodes - 1) / kWordCodes * kWordCodes;
}

/// Makes a range from `low` to `high` so wide that it has the values in it. What is no number is left out.
void widenRange(const float *values, std::size_t count, float &low, float &high);
/// The codes of values, and zeros up to the end of the last vector of kRecurrentLanes. Returns their sum.
std::int32_t codeValues(const float *values, std::size_t count, const DynamicCode &code, std::uint8_t *to);

/// Some gates of a matrix of codes, (depth, row).
struct GateColumns
{
    const std::byte *codes = nullptr; ///< the first of them, in the first row
    bool areSigned = true;
    std::size_t row = 0; ///< columns from one row to the next
    std::size_t size = 0; ///< columns of a gate
    std::size_t depth = 0;
    const std::size_t *gates = nullptr; ///< which of them, in the order of the packed columns
    std::size_t count = 0; ///< of them
};

/// Bytes that packCodes() writes; a multiple of 64.
std::size_t packedCodeBytes(const GateColumns &columns);
/// Words of four vectors of columns together, word after word, as signed codes (unsigned ones less 128), and behind all of them each
/// column's sum.
void packCodes(const GateColumns &columns, std::byte *to);

/// A packed matrix, and what its codes stand for.
struct CodeMatrix
{
    const std::byte *packed = nullptr;
    std::size_t depth = 0;
    std::size_t columns = 0;
    const float *scales = nullptr; ///< of each column
    const std::int32_t *zeros = nullptr; ///< likewise, of the codes as they are packed
};

/// sums[r][c] = start[c] + Σ over k of (rows[r · stride + k] - zero) · (matrix[k][c] - zeros[c]) · scale · scales[c], or added to what sums[r]
/// holds.
struct CodeProducts
{
    const std::uint8_t *rows = nullptr; ///< of codes, in whole words
    std::size_t stride = 0; ///< from one row to the next
    const std::int32_t *rowSums = nullptr; ///< of the codes of each
    float *const *sums = nullptr;
    std::size_t count = 0; ///< of rows
    DynamicCode code;
    const float *start = nullptr; ///< null: the sums go on from what they hold
};

/// What multiplies; all give the same. One that this machine lacks gives way to the next.
enum class CodeUnit : std::uint8_t
{
    Words, ///< AVX-512 with VNNI: four codes a lane at once
    Pairs, ///< AVX2: products of 16 bits, two a lane at once
    Plain
};

void multiplyCodes(const CodeMatrix &matrix, const CodeProducts &products,
                   CodeUnit fastest = CodeUnit::Words);

} // namespace halftone::backends::onednn
