#pragma once

#include "core/hardware/description.h"
#include "core/infer/infer_shapes.h"
#include "core/tensor/dtype.h"

#include <vector>

namespace halftone::mixed {

/// What the casts of a graph cost.
struct CastContext
{
    tensor::DType target = tensor::DType::F16;
    /// By NodeId: a variable or constant that may be stored in the target type when all its readers want that: no cast at run time.
    const std::vector<bool> *isStorable = nullptr;
    const infer::ShapeMap *shapes = nullptr; ///< of the source graph; null: unknown
    /// Casts and operators weigh the time that they take by this chip's rates; null: casts weigh their bytes.
    const hardware::Description *clock = nullptr;
    const std::vector<bool> *kept = nullptr; ///< as PlanSettings have it
};

} // namespace halftone::mixed
