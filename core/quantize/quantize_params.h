#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/tensor/form_cache.h"

#include <string>
#include <vector>

namespace halftone::quantize {

/// A parameter that is stored as codes.
struct OfflineParameter
{
    std::string name; ///< of the float32 one
    std::string codes; ///< variable of the codes; QuantizedForms has the names of those of the range
};

/// The parameters that a quantized graph reads: its variables' own, and codes with their ranges, which are int8 and
/// symmetric: amax over the whole tensor is code 127 (core/quantize/RULES.md, Q-parameter).
/// notes   gets what does not fit an int32 accumulator
/// forms   codes that were made before; gets those that are made now
/// fails   BadInput for a parameter to be quantized that is sparse, not float32, or not finite (where = its name)
Result<std::vector<tensor::Array>> quantizedParameters(const graph::Model &model,
                                                       const graph::Graph &quantized,
                                                       const std::vector<OfflineParameter> &offline,
                                                       std::vector<std::string> &notes,
                                                       tensor::FormCache &forms);

} // namespace halftone::quantize
