#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"

#include <span>

namespace halftone::kernels {

/// Rows [first, first + number) of the first axis, as far as there are some; shares the bytes. Needs: rank 1 or more.
tensor::Tensor sliceRows(const tensor::Tensor &tensor, std::size_t first, std::size_t number);

/// A batch that was filled up with rows that do not count.
struct FilledBatch
{
    std::size_t own = 0; ///< rows that count; they come first
    std::size_t all = 0;

    bool isFilled() const { return own < all; }
};

/// The part of a value of such a batch that belongs to its own rows: along the first axis where its extent is that of the batch or a multiple,
/// else along the first axis that is as long as the batch; the whole value where there is none.
Result<tensor::Tensor> ownPart(const tensor::Tensor &value, const FilledBatch &batch);

/// Rows behind those of the tensor, so that there are `number`: the last one again. Needs: rank 1 or more, at least one row.
Result<tensor::Tensor> filledUp(const tensor::Tensor &tensor, std::size_t number);

/// The tensors one after the other along the first axis. fails: BadInput when they differ in type, rank or another axis,
/// or have rank 0 (one tensor alone is given back as it is).
Result<tensor::Tensor> joinRows(std::span<const tensor::Tensor> tensors);

} // namespace halftone::kernels
