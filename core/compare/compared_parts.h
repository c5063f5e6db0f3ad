#pragma once

#include "core/compare/layer_compare.h"
#include "core/compare/stored_errors.h"

#include <optional>
#include <string>
#include <vector>

/// What comparisons are made of: parts over other examples of the same data add up, in any order, to what a comparison over
/// all of them gives, to the last bit.
namespace halftone::compare {

/// Of one output of one node: LayerErrors with what its figures are made of.
struct LayerParts
{
    graph::NodeId node = 0;
    std::uint32_t output = 0;
    tensor::DType dtype = tensor::DType::Unknown;
    bool shapesDiffer = false;
    std::uint64_t notFinite = 0;
    std::optional<StoredErrors> cumulative, isolated, isolatedAtOutputs;
};

struct OutputParts
{
    tensor::ErrorParts errors;
    AgreementParts agreement;
    bool shapesDiffer = false;
};

struct ComparedParts
{
    std::vector<LayerParts> layers; ///< as Comparison::layers
    std::vector<OutputParts> outputs; ///< by head
    std::size_t peakBytes = 0; ///< the most of any part
};

/// Needs: parts of the same models.
void addParts(const ComparedParts &from, ComparedParts &to);

/// threshold  as CompareSettings::threshold
Comparison comparisonOf(const ComparedParts &parts, std::optional<double> threshold);

} // namespace halftone::compare
