#include "core/compare/compared_parts.h"

#include "core/compare/output_rows.h"

#include <algorithm>

namespace halftone::compare {
namespace {

using tensor::ErrorMetrics;

void addErrors(const std::optional<StoredErrors> &from, std::optional<StoredErrors> &to)
{
    if (!from)
        return;
    ErrorMetrics sum = to ? to->metrics() : ErrorMetrics();
    sum.add(from->metrics());
    to = StoredErrors(sum);
}

std::optional<tensor::ErrorFigures> figuresOf(const std::optional<StoredErrors> &parts)
{
    return parts ? std::optional(parts->metrics().figures()) : std::nullopt;
}

LayerErrors layerOf(const LayerParts &parts)
{
    LayerErrors layer;
    layer.node = parts.node;
    layer.output = parts.output;
    layer.dtype = parts.dtype;
    layer.shapesDiffer = parts.shapesDiffer;
    layer.notFinite = parts.notFinite;
    layer.cumulative = figuresOf(parts.cumulative);
    layer.isolated = figuresOf(parts.isolated);
    layer.isolatedAtOutputs = figuresOf(parts.isolatedAtOutputs);
    return layer;
}

} // namespace

void addParts(const ComparedParts &from, ComparedParts &to)
{
    for (std::size_t k = 0; k < to.layers.size(); ++k) {
        const LayerParts &part = from.layers[k];
        LayerParts &sum = to.layers[k];
        sum.dtype = sum.dtype == tensor::DType::Unknown ? part.dtype : sum.dtype;
        sum.shapesDiffer = sum.shapesDiffer || part.shapesDiffer;
        sum.notFinite += part.notFinite;
        addErrors(part.cumulative, sum.cumulative);
        addErrors(part.isolated, sum.isolated);
        addErrors(part.isolatedAtOutputs, sum.isolatedAtOutputs);
    }
    for (std::size_t k = 0; k < to.outputs.size(); ++k) {
        ErrorMetrics sum = ErrorMetrics::ofParts(to.outputs[k].errors);
        sum.add(ErrorMetrics::ofParts(from.outputs[k].errors));
        to.outputs[k].errors = sum.parts();
        to.outputs[k].agreement.add(from.outputs[k].agreement);
        to.outputs[k].shapesDiffer = to.outputs[k].shapesDiffer || from.outputs[k].shapesDiffer;
    }
    to.peakBytes = std::max(to.peakBytes, from.peakBytes);
}

Comparison comparisonOf(const ComparedParts &parts, std::optional<double> threshold)
{
    std::vector<LayerErrors> layers;
    for (const LayerParts &layer : parts.layers)
        layers.push_back(layerOf(layer));
    std::vector<OutputErrors> outputs;
    for (const OutputParts &output : parts.outputs)
        outputs.push_back(
            {ErrorMetrics::ofParts(output.errors).figures(), output.agreement.result(), output.shapesDiffer});
    Comparison comparison = conclude(std::move(layers), std::move(outputs), threshold);
    comparison.peakBytes = parts.peakBytes;
    return comparison;
}

} // namespace halftone::compare
