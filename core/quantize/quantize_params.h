#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"

#include <string>
#include <vector>

namespace halftone::passes {

/// A parameter that is stored as codes.
struct OfflineParameter
{
    std::string name; ///< of the float32 one
    std::string codes; ///< variable of the codes; with "_min" and "_max" those of the range
};

/// The parameters that a quantized graph reads: its variables' own, and codes with their ranges, which are int8 and
/// symmetric: amax over the whole tensor is code 127 (spec: calibration-int8, section 3).
/// notes   gets what does not fit an int32 accumulator
/// fails   BadInput for a parameter to be quantized that is sparse, not float32, or not finite (where = its name)
Result<std::vector<tensor::Array>> quantizedParameters(const graph::Model &model,
                                                       const graph::Graph &quantized,
                                                       const std::vector<OfflineParameter> &offline,
                                                       std::vector<std::string> &notes);

} // namespace halftone::passes
