#pragma once

#include "core/hardware/description.h"
#include "core/tensor/dtype.h"

namespace halftone::mixed {

/// What the casts of a graph cost, and who may choose.
struct CastContext
{
    tensor::DType target = tensor::DType::F16;
    /// Casts and operators weigh the time that they take by this chip's rates; null: casts weigh their bytes.
    const hardware::Description *clock = nullptr;
    /// Neutral and widest operators may choose; false: only what bodies of control flow are handed in and give.
    bool operatorsChoose = true;
};

} // namespace halftone::mixed
