#pragma once

#include "core/compare/layer_compare.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace halftone::report {

/// Layers, the worst first: by the isolated error at the outputs where there is one, else by the cumulative one; NaN and
/// overflow before everything. Indices into `layers`; those without figures are left out.
std::vector<std::size_t> worstFirst(std::span<const compare::LayerErrors> layers);

/// One line a layer with all figures, in topological order; RFC 4180. Figures that do not exist are empty.
std::string comparisonCsv(const graph::Graph &reference, std::span<const compare::LayerErrors> layers);

/// The rows of `layers` as a JSON array, with the keys of the CSV's columns (app/README.md, "Commands"): cumulative figures, and in
/// "isolated" and "isolated_at_output" the others, null where they do not exist. Infinite and undefined ones are "inf",
/// "-inf" and "nan".
std::string layersJson(const graph::Graph &reference, std::span<const compare::LayerErrors> layers);

/// Figures of one tensor as a JSON object.
std::string figuresJson(const tensor::ErrorFigures &figures);

} // namespace halftone::report
