#pragma once

#include "core/backends/cuda/library_product.h"

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

/// A product of matrices `desc` with nothing behind it, by a library. fails: as emitLibraryProduct()
Result<void> emitMatrixProduct(Emitter &emitter, const ProductDesc &desc, const Operands &operands);

/// Steps for the current node, by kind of operator; nothing where it is of another kind.
std::optional<Result<void>> lowerFloat8(Emitter &emitter); ///< products of codes of float8
std::optional<Result<void>> lowerProduct(Emitter &emitter); ///< convolutions, matrix products
std::optional<Result<void>> lowerConvolution(Emitter &emitter); ///< of floats, transposed ones too
std::optional<Result<void>> lowerAttention(Emitter &emitter);
std::optional<Result<void>> lowerMove(Emitter &emitter); ///< what puts elements elsewhere
std::optional<Result<void>> lowerLines(Emitter &emitter); ///< reductions, softmax, normalisations
std::optional<Result<void>> lowerWindow(Emitter &emitter); ///< pooling
std::optional<Result<void>> lowerCodes(Emitter &emitter); ///< chains on codes of 8 bits

} // namespace halftone::backends::cuda
