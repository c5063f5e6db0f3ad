#include "halftone/compare.h"

#include "core/api/inside.h"
#include "core/infer/shown_outputs.h"
#include "core/results/comparison_json.h"
#include "core/walks/compare.h"
#include "core/walks/compare_values.h"

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

halftone::Result<walks::CompareOptions> compareOptions(const Data &data, const CompareOptions &options)
{
    walks::CompareOptions compare;
    HALFTONE_CHECK(setWork(compare, data, options.compute));
    compare.otherBackend = options.otherBackend;
    compare.arithmetic = options.arithmetic == Arithmetic::Runtime ? backends::Arithmetic::Runtime
                                                                   : backends::Arithmetic::Defined;
    HALFTONE_TRY(compare.accumulator, accumulatorOf(options.accumulate));
    compare.eachAlone = true;
    compare.settings.isolated = options.effect != Effect::Cumulative;
    compare.settings.memoryLimit = options.memoryLimit;
    compare.settings.threshold = options.threshold;
    return compare;
}

std::string_view nameOf(Effect effect)
{
    return effect == Effect::Both ? "both" : effect == Effect::Isolated ? "isolated" : "cumulative";
}

Comparison comparisonOf(const walks::CompareOutcome &outcome, const walks::CompareOptions &options,
                        Effect effect)
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
    all.task = scoreOf(outcome.task);
    all.unmatched = outcome.unmatched.reference;
    all.unmatched.insert(all.unmatched.end(), outcome.unmatched.other.begin(), outcome.unmatched.other.end());
    all.seconds = outcome.seconds;
    all.report = textOf(results::compareJson(outcome, options, std::string(nameOf(effect))));
    return all;
}

} // namespace

Result<Comparison> compare(const Conversion &conversion, const Data &data, const CompareOptions &options,
                           const Progress &progress)
{
    return answer([&]() -> halftone::Result<Comparison> {
        const session::Session &session = Inside::sessionOf(conversion.source());
        const mixed::ConvertedModel &converted = *Inside::of(conversion).derived.converted;
        HALFTONE_TRY(walks::CompareOptions how, compareOptions(data, options));
        if (Inside::of(conversion).weights && options.effect != Effect::Cumulative)
            return badCall(Field::Effect, "isolated errors of weights in blocks are not measured",
                           "cumulative");
        if (!options.accumulate)
            how.accumulator = converted.policy.accumulate.value_or(tensor::DType::Unknown);
        HALFTONE_TRY(const walks::CompareOutcome outcome,
                     Inside::of(conversion).weights ? session.compareWith(
                         Inside::sessionOf(conversion.model()).source(), how, progressOf(progress))
                                                    : session.compare(converted, how, progressOf(progress)));
        return comparisonOf(outcome, how, options.effect);
    });
}

Result<Comparison> compare(const Model &reference, const Model &other, const Data &data,
                           const CompareOptions &options, const Progress &progress)
{
    return answer([&]() -> halftone::Result<Comparison> {
        if (options.effect != Effect::Cumulative)
            return badCall(Field::Effect, "isolated errors need a conversion; two separate models have none");
        HALFTONE_TRY(const walks::CompareOptions how, compareOptions(data, options));
        HALFTONE_TRY(const walks::CompareOutcome outcome,
                     Inside::sessionOf(reference).compareWith(Inside::sessionOf(other).source(), how,
                                                              progressOf(progress)));
        return comparisonOf(outcome, how, options.effect);
    });
}

Result<Comparison> compareValues(const Model &model, const std::vector<Array> &values, const Data &data,
                                 const CompareOptions &options, const Progress &progress)
{
    return answer([&]() -> halftone::Result<Comparison> {
        if (options.effect != Effect::Cumulative)
            return badCall(Field::Effect, "isolated errors need a conversion; recorded values have none");
        HALFTONE_TRY(const walks::CompareOptions how, compareOptions(data, options));
        std::vector<io::NamedTensor> recorded;
        for (const Array &value : values) {
            HALFTONE_TRY(tensor::Tensor tensor, tensorOf(value));
            recorded.push_back({value.name, std::move(tensor)});
        }
        const session::Session &session = Inside::sessionOf(model);
        HALFTONE_TRY(const walks::CompareOutcome outcome,
                     walks::compareValues(session.source().model, session.source().modelPath, recorded, how,
                                          progressOf(progress)));
        return comparisonOf(outcome, how, options.effect);
    });
}

} // namespace halftone::api
