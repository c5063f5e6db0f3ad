#pragma once

#include "core/infer/typed_model.h"
#include "core/runtimes/kernel_table.h"

#include <cstddef>
#include <vector>

namespace halftone::runtimes {

/// Casts that a runtime adds around operators that it computes in float32.
struct AddedCasts
{
    std::size_t perRun = 0; ///< of values that are computed or fed
    std::size_t onLoad = 0; ///< of stored values, cast once when the model is loaded
};

/// What the runtime has before it fuses operators. A value is cast once for all readers of one side; a node without effect is gone, and a cast of
/// the model beside an added one goes with it. Parameters that may be fed are cast in each run.
/// missing  of this model by this table
AddedCasts addedCasts(const KernelTable &table, const std::vector<MissingKernel> &missing,
                      const infer::TypedModel &model);

} // namespace halftone::runtimes
