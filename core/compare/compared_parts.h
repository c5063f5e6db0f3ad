#pragma once

#include "core/compare/layer_compare.h"
#include "core/compare/stored_errors.h"

#include <optional>
#include <string>
#include <vector>

/// The sums behind comparisons. Parts of disjoint examples of the same data, added in any order, equal those of one comparison over all of
/// them, to the last bit.
namespace halftone::compare {

/// LayerErrors of one output of a node, as sums.
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
    std::vector<LayerParts> layers; ///< like Comparison::layers
    std::vector<OutputParts> outputs; ///< by head
    std::size_t peakBytes = 0; ///< maximum of all parts
};

/// Needs: parts of the same models.
void addParts(const ComparedParts &from, ComparedParts &to);

/// threshold  as CompareSettings::threshold
Comparison comparisonOf(const ComparedParts &parts, std::optional<double> threshold);

} // namespace halftone::compare
