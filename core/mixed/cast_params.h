#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/passes/conversion.h"
#include "core/tensor/convert.h"
#include "core/tensor/tensor.h"

#include <span>
#include <string>
#include <vector>

namespace halftone::passes {

/// A stored array that changed its type, and what that did to its values.
struct ParameterChange
{
    std::string name; ///< as in the file, with its "arg:" or "aux:"
    tensor::DType from = tensor::DType::Unknown;
    tensor::DType to = tensor::DType::Unknown;
    tensor::CastReport losses;
};

struct CastParameters
{
    std::vector<tensor::Array> arrays; ///< all of them, in the order given; unchanged ones share their bytes
    std::vector<ParameterChange> changes;
};

/// Casts the arrays that `conversion` stores in another type. Sparse arrays keep their indices.
/// fails: Cancelled, and what tensor::castTo refuses (where = the array's name).
Result<CastParameters> castParams(std::span<const tensor::Array> arrays, const graph::Graph &source,
                                  const Conversion &conversion, const Progress &progress = {});

} // namespace halftone::passes
