#pragma once

#include "core/backends/cuda/emitter.h"

#include <optional>

namespace halftone::backends::cuda {

Error refused(std::string why);
Result<void> requireSingleOutput(const Emitter &emitter);
Result<void> requireSingleOutputOrSplit(const Emitter &emitter);

/// Steps for the current node, by kind of operator; nothing where it is of another kind.
std::optional<Result<void>> lowerProduct(Emitter &emitter); ///< convolutions, matrix products
std::optional<Result<void>> lowerMove(Emitter &emitter); ///< what puts elements elsewhere
std::optional<Result<void>> lowerLines(Emitter &emitter); ///< reductions, softmax, normalisations
std::optional<Result<void>> lowerWindow(Emitter &emitter); ///< pooling
std::optional<Result<void>> lowerCodes(Emitter &emitter); ///< chains on codes of 8 bits

} // namespace halftone::backends::cuda
