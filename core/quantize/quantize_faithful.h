#pragma once

#include "core/infer/cpu_defects.h"
#include "core/infer/type_map.h"
#include "core/quantize/quantize_draft.h"

#include <set>
#include <string_view>
#include <unordered_set>
#include <vector>

/// From what MXNet would not compute as written to what is written instead.
namespace halftone::quantize {

/// What is known before anything is quantized: a BatchNorm of its own whose gamma is to count as 1 and is not, groups of
/// several filters.
Deviations deviationsAhead(const graph::Model &model);

/// Types in the draft, whose data are float32, or of the types that their readers want where that does not go together.
Result<infer::TypeMap> typesOf(const QuantizedDraft &draft,
                               const std::unordered_set<std::string_view> &parameters);

/// Adds to `deviations` what avoids the defects of the draft. False when there is nothing that would. The plain form stays
/// as MXNet writes it, but for products.
bool deviateMore(const QuantizedDraft &draft, const std::vector<infer::CpuDefect> &defects,
                 QuantizedForm form, Deviations &deviations);

/// Convolutions whose fused sum, unless its addend is int8 as well, MXNet would spoil.
std::set<graph::NodeId> convolutionsWithSignedSum(const QuantizedDraft &draft);

} // namespace halftone::quantize
