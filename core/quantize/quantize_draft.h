#pragma once

#include "core/quantize/deviations.h"
#include "core/quantize/quantize.h"
#include "core/quantize/quantize_choice.h"
#include "core/quantize/quantize_fuse.h"
#include "core/quantize/quantize_params.h"

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace halftone::quantize {

/// What is to be quantized.
struct QuantizationPlan
{
    FusedGraph fused;
    QuantizedChoice choice;
    std::unordered_set<std::string_view> parameters;
};

/// A quantized graph without its parameters.
struct QuantizedDraft
{
    graph::Graph graph;
    std::vector<QuantizedOrigin> origins; ///< by NodeId of `graph`
    std::vector<OfflineParameter> offline;
    std::vector<ObservedTensor> observed;
    std::vector<std::string> quantized; ///< as QuantizedModel::quantized
    std::vector<std::string> missing; ///< tensors without a range
    std::vector<std::string> keptSigned; ///< tensors that uint8 was asked for and that are int8
    std::size_t longTexts = 0; ///< ranges in nine digits
};

/// ranges: null to find out which are needed
QuantizedDraft draftQuantized(const QuantizationPlan &plan, const QuantizeOptions &options,
                              const Deviations &deviations, const QuantizedRanges *ranges);

} // namespace halftone::quantize
