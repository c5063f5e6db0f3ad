#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/rewrite/conversion.h"
#include "core/tensor/convert.h"
#include "core/tensor/form_cache.h"
#include "core/tensor/tensor.h"

#include <span>
#include <string>
#include <vector>

namespace halftone::mixed {

/// A stored array, or a constant, that changed its type, and what that did to its values.
struct ParameterChange
{
    std::string name; ///< as in the file, with what stands before the variable's; of a constant its tensor's
    tensor::DType from = tensor::DType::Unknown;
    tensor::DType to = tensor::DType::Unknown;
    tensor::CastReport losses;
    bool isClamped = false; ///< what overflowed became the largest value of the type
    std::uint64_t count = 0; ///< of its values; 0: not known
    /// A bound that would have become 0 is the smallest positive number of the 16-bit type; also in float32, where a cast reads it (then `to`
    /// is `from`).
    bool isHeld = false;
};

struct CastParameters
{
    std::vector<tensor::Array> arrays; ///< all of them, in the order given; unchanged ones share their bytes
    std::vector<ParameterChange> changes;
};

/// Casts the arrays that `conversion` stores in another type; large ones when they are first read. Sparse arrays keep their
/// indices.
/// clamps  finite values beyond the range become its ends, not infinite
/// holds   bounds that T makes 0 become its smallest positive number (M-bounds)
/// forms   what was cast before; gets what is cast now
/// fails: Cancelled, and what tensor::castTo refuses (where = the array's name).
Result<CastParameters> castParams(std::span<const tensor::Array> arrays, const graph::Graph &source,
                                  const rewrite::Conversion &conversion, bool clamps, bool holds,
                                  tensor::FormCache &forms, const Progress &progress = {});

/// Adds what became of the constants that nodes hold, those of bodies too. source: what `conversion` was made of
void listConstants(const graph::Graph &source, const rewrite::Conversion &conversion,
                   std::vector<ParameterChange> &changes);

} // namespace halftone::mixed
