#include "halftone/compare.h"

#include "core/api/inside.h"
#include "core/infer/shown_outputs.h"
#include "core/walks/compare.h"

namespace halftone::api {
namespace {

Errors errorsOf(const tensor::ErrorFigures &figures)
{
    return {figures.sqnrDb, figures.maxAbs, figures.cosine, figures.overflow, figures.nan};
}

std::optional<Errors> errorsOf(const std::optional<tensor::ErrorFigures> &figures)
{
    return figures ? std::optional(errorsOf(*figures)) : std::nullopt;
}

walks::CompareOptions compareOptions(const Data &data, const CompareOptions &options)
{
    walks::CompareOptions compare;
    setWork(compare, data, options.compute);
    compare.eachAlone = true;
    compare.settings.isolated = options.isolated;
    compare.settings.memoryLimit = options.memoryLimit;
    compare.settings.threshold = options.threshold;
    return compare;
}

Comparison comparisonOf(const walks::CompareOutcome &outcome)
{
    Comparison all;
    const graph::Graph &graph = outcome.models.reference.graph;
    for (const compare::LayerErrors &layer : outcome.comparison.layers)
        all.layers.push_back({infer::valueName(graph, layer.node, layer.output), graph.node(layer.node).op,
                              typeOf(layer.dtype), errorsOf(layer.cumulative), errorsOf(layer.isolated),
                              errorsOf(layer.isolatedAtOutputs)});
    for (std::size_t k = 0; k < outcome.comparison.outputs.size(); ++k) {
        const compare::OutputErrors &output = outcome.comparison.outputs[k];
        all.outputs.push_back({outcome.outputs[k], errorsOf(output.figures),
                               output.agreement ? std::optional(output.agreement->top1) : std::nullopt});
    }
    all.firstDivergence = outcome.comparison.firstDivergence;
    all.examples = outcome.examples;
    all.reference = accuracyOf(outcome.reference);
    all.other = accuracyOf(outcome.other);
    all.seconds = outcome.seconds;
    return all;
}

} // namespace

Result<Comparison> compare(const Conversion &conversion, const Data &data, const CompareOptions &options,
                           const Progress &progress)
{
    return answer([&]() -> halftone::Result<Comparison> {
        const session::Session &session = Inside::sessionOf(conversion.source());
        HALFTONE_TRY(const walks::CompareOutcome outcome,
                     session.compare(*Inside::of(conversion).derived.converted, compareOptions(data, options),
                                     progressOf(progress)));
        return comparisonOf(outcome);
    });
}

Result<Comparison> compare(const Model &reference, const Model &other, const Data &data,
                           const CompareOptions &options, const Progress &progress)
{
    return answer([&]() -> halftone::Result<Comparison> {
        if (options.isolated)
            return badCall(Field::Effect, "isolated errors need a conversion; two separate models have none");
        auto models = compare::pairByName(Inside::graphModelOf(reference), Inside::graphModelOf(other));
        if (!models.ok())
            return inFile(std::move(models).error(), other.path());
        HALFTONE_TRY(const walks::CompareOutcome outcome,
                     walks::compareModels(std::move(models).value(), reference.path(),
                                          compareOptions(data, options), progressOf(progress)));
        return comparisonOf(outcome);
    });
}

} // namespace halftone::api
