#pragma once

#include "core/backends/cuda/emitter.h"

#include <optional>
#include <vector>

namespace halftone::backends::cuda {

Error refused(std::string why);
Result<void> requireSingleOutput(const Emitter &emitter);
Result<void> requireSingleOutputOrSplit(const Emitter &emitter);

/// Sums that a library wrote, through what stands behind them; all views have the dims of the result.
/// buffers  of the epilogue's operands
void finishSums(Emitter &emitter, const Place &sums, const Place &result, const Epilogue &epilogue,
                const std::vector<BufferId> &buffers);

/// A matrix of codes of 8 bits, transposed: libraries multiply codes whose depth runs fastest.
tensor::Tensor columnsAsRows(const tensor::Tensor &matrix);

/// A product's operands, and what is added to it before all else.
struct Operands
{
    BufferId a = 0;
    BufferId b = 0;
    std::optional<plan::ValueId> bias{}; ///< one value a channel, or a column
    Place to;
};
/// The current node, a product of matrices `desc` with nothing behind it, by a library: with all that stands behind the node, or
/// bare before a kernel of our own. fails: Unsupported where no library takes either
Result<void> emitLibraryProduct(Emitter &emitter, const ProductDesc &desc, const Operands &operands);

/// Steps for the current node, by kind of operator; nothing where it is of another kind.
std::optional<Result<void>> lowerFloat8(Emitter &emitter); ///< products of codes of float8
std::optional<Result<void>> lowerProduct(Emitter &emitter); ///< convolutions, matrix products
std::optional<Result<void>> lowerAttention(Emitter &emitter);
std::optional<Result<void>> lowerMove(Emitter &emitter); ///< what puts elements elsewhere
std::optional<Result<void>> lowerLines(Emitter &emitter); ///< reductions, softmax, normalisations
std::optional<Result<void>> lowerWindow(Emitter &emitter); ///< pooling
std::optional<Result<void>> lowerCodes(Emitter &emitter); ///< chains on codes of 8 bits

} // namespace halftone::backends::cuda
