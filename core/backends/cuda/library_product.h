#pragma once

#include "core/backends/cuda/emitter.h"

#include <functional>
#include <optional>
#include <vector>

namespace halftone::backends::cuda {

/// A product's operands, and what is added to it before all else.
struct Operands
{
    BufferId a = 0;
    BufferId b = 0;
    std::optional<plan::ValueId> bias{}; ///< one value a channel, or a column
    Place to;
};

/// What stands behind a product, for kernels of our own: operands are seen as its result is, the bias in front.
struct Behind
{
    Epilogue text;
    std::vector<BufferId> buffers;
};

/// An operand's view with the dims of the product's result; nothing where it cannot be seen so.
using See = std::function<std::optional<View>(const View &)>;
/// biasAxis  of the channels, or columns, in `result`
Result<Behind> behindProduct(Emitter &emitter, const std::optional<plan::ValueId> &bias, const View &result,
                             std::size_t biasAxis, const See &see);

/// The current node, a product `desc` with nothing behind it, by a library: with all that stands behind the node in one call, or bare
/// before a kernel of our own, whichever was quicker as measured. fails: Unsupported where no library takes either
Result<void> emitLibraryProduct(Emitter &emitter, const ProductDesc &desc, const Operands &operands,
                                const std::function<Result<Behind>()> &behind);

} // namespace halftone::backends::cuda
