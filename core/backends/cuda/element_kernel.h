#pragma once

#include "core/backends/cuda/kernel_text.h"
#include "core/backends/cuda/view.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halftone::backends::cuda {

/// C++'s name of a type in kernels; empty for one that they don't know (uint64, formats for analysis).
std::string_view typeName(tensor::DType type);
/// What kernels compute elements of a type in: "float", "double", "long long".
std::string_view numberName(tensor::DType type);
/// A number as a literal of that type.
std::string literal(double value, std::string_view number);

/// What happens to a result before it is written: `expression` reads it as `acc`, and operand k as `e`k. Operands have the dims of
/// the output.
struct Epilogue
{
    std::string statements; ///< before it
    std::string expression = "acc";
    std::vector<View> operands;
};

/// One thread for `V` neighbouring elements of the output, where all views let it load and store so many at once, else for one.
/// expression  reads element k of `inputs` as `x`k, and what `statements` define; all have the output's dims
KernelText elementwise(std::span<const View> inputs, const View &output, const std::string &statements,
                       const std::string &expression, std::string label);

/// One thread an element of the output: what it is has a text of its own.
/// inputs  types of the arguments p0, p1, …
/// body    defines `acc`; sees the element's coordinates c0, c1, … (int)
KernelText perElement(std::span<const tensor::DType> inputs, const View &output, const std::string &body,
                      const Epilogue &epilogue, std::string label);

/// "c0 * 12 + c1 + 3": the place that coordinates c`first`, … have in a view.
std::string placeText(const View &view, std::size_t first = 0);

/// Along some axes, for all others: a block a line. Inputs have the output's dims, or the output has an extent of 1 along `axes`.
struct Lines
{
    std::vector<bool> along; ///< by axis
    std::vector<View> inputs;
    View output;
};
/// expression  what joins a line: reads `x` (element of input 0), joined by `join` (join_sum, …) from `start`; `last` makes the result
///             of `all` and `count`
KernelText reduction(const Lines &lines, const std::string &expression, std::string_view join,
                     const std::string &start, const std::string &last, std::string label);

enum class SoftmaxKind : std::uint8_t
{
    Softmax,
    Logarithm
};
struct SoftmaxForm
{
    SoftmaxKind kind = SoftmaxKind::Softmax;
    bool isNegated = false;
    double temperature = 1;
    bool nanIsInfinite = false; ///< what is no number takes everything; else all of the line is NaN
    bool hasMask = false; ///< input 1 is added before
};
KernelText softmax(const Lines &lines, const SoftmaxForm &form);

/// Looks for the first of the indices that is not within [-extent, extent): one block, which writes its place, or -1, and the index itself
/// to places 2 · slot and 2 · slot + 1 of the result (int64).
KernelText indexCheck(const View &indices, std::int64_t extent, std::int64_t slot);

/// How a line is normalised: its mean is taken off, where `centred`; it is divided as `inverse` says.
struct LineNorm
{
    bool centred = true;
    std::string inverse; ///< of `square` (the mean of squares): "rsqrt(square + 1e-5f)"
    bool hasGamma = true; ///< input 1
    bool hasBeta = true; ///< the last input
    std::optional<tensor::DType>
        also{}; ///< a second result, in the first one's layout: the same, rounded to this type
};
KernelText lineNorm(const Lines &lines, const LineNorm &norm, std::string label);

/// Blocks of a grid are counted in 31 bits.
inline constexpr std::int64_t kMostBlocks = 0x7fffffff;
/// Of matrixProduct().
std::int64_t productBlocks(const View &c);

/// How products are summed, where they are codes.
struct Sums
{
    std::string_view type = {}; ///< "int"; empty: as the result's type is computed in
    std::int64_t zero = 0; ///< of the data: the code for 0
};

/// C[…, m, n] = Σ A[…, m, k] · B[…, k, n], 16 × 16 at a time; leading axes are the same or repeat (stride 0).
KernelText matrixProduct(const View &a, const View &b, const View &c, const Epilogue &epilogue,
                         const Sums &sums = {});

} // namespace halftone::backends::cuda
