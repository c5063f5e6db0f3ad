#include "core/results/comparison_json.h"

#include "core/base/process_memory.h"
#include "core/infer/shown_outputs.h"
#include "core/report/comparison_report.h"
#include "core/report/json_values.h"
#include "core/results/common_json.h"

#include <array>
#include <memory>

namespace halftone::results {

using Json = OrderedJson;
using compare::LayerErrors;

std::string nameOf(const walks::CompareOutcome &outcome, std::size_t layer)
{
    const LayerErrors &row = outcome.comparison.layers[layer];
    return infer::valueName(outcome.models.reference.graph, row.node, row.output);
}

bool isAnalysed(const walks::CompareOutcome &outcome)
{
    return tensor::isForAnalysis(outcome.models.float16As);
}

namespace {

Json nameOrNull(const walks::CompareOutcome &outcome, const std::optional<std::size_t> &layer)
{
    return layer ? Json(nameOf(outcome, *layer)) : Json();
}

Json outputsJson(const walks::CompareOutcome &outcome)
{
    Json outputs = Json::array();
    for (std::size_t k = 0; k < outcome.comparison.outputs.size(); ++k) {
        const compare::OutputErrors &output = outcome.comparison.outputs[k];
        Json row{{"name", outcome.outputs[k]}};
        row.update(parseOrdered(report::figuresJson(output.figures)));
        const auto &agreement = output.agreement;
        row["top1_agree"] = agreement ? Json(agreement->top1) : Json();
        row["top5_agree"] = agreement ? Json(agreement->top5) : Json();
        row["top1_in_top5"] = agreement ? Json(agreement->top1InTop5) : Json();
        row["kl"] = agreement ? report::jsonNumber(agreement->divergence) : Json();
        row["shapes_differ"] = output.shapesDiffer;
        outputs.push_back(std::move(row));
    }
    return outputs;
}

Json accuracyJson(const walks::CompareOutcome &outcome, double tasks::Accuracy::*share,
                  double compare::Agreement::*agree)
{
    const auto &outputs = outcome.comparison.outputs;
    const bool hasAgreement = !outputs.empty() && outputs[0].agreement;
    return {{"fp32", outcome.reference ? Json((*outcome.reference).*share) : Json()},
            {"mixed", outcome.other ? Json((*outcome.other).*share) : Json()},
            {"agree", hasAgreement ? Json((*outputs[0].agreement).*agree) : Json()}};
}

constexpr std::array<std::string_view, 6> kSettings{"backend",         "arithmetic", "warnings",
                                                    "analysed_format", "effect",     "unmatched"};

} // namespace

Json settingsJson(const walks::CompareOutcome &outcome, const std::string &backend, const std::string &effect)
{
    return {
        {"command", "compare"},
        {"backend", backend},
        {"arithmetic", backends::nameOf(outcome.arithmetic)},
        {"warnings", warningsJson(outcome.warnings)},
        {"analysed_format", isAnalysed(outcome) ? Json(tensor::nameOf(outcome.models.float16As)) : Json()},
        {"effect", effect},
        {"unmatched", {{"model", outcome.unmatched.reference}, {"other", outcome.unmatched.other}}}};
}

Json comparisonJson(const walks::CompareOutcome &outcome, const Json &settings)
{
    const auto setting = [&settings](std::string_view key) {
        return settings.is_object() ? settings.value(std::string(key), Json()) : Json();
    };
    const compare::Comparison &comparison = outcome.comparison;
    Json json = Json::object();
    for (const std::string_view key : kSettings) {
        if (key != "unmatched")
            json[std::string(key)] = setting(key);
    }
    json["examples"] = outcome.examples;
    json["batch"] = outcome.batch;
    json["seconds"] = outcome.seconds;
    json["peak_bytes"] = comparison.peakBytes;
    json["layers"] = parseOrdered(report::layersJson(outcome.models.reference.graph, comparison.layers));
    json["first_divergence"] = nameOrNull(outcome, comparison.firstDivergence);
    json["threshold_db"] = comparison.threshold;
    json["first_not_finite_fp32"] = nameOrNull(outcome, comparison.firstUnclean);
    json["outputs"] = outputsJson(outcome);
    json["top1"] = accuracyJson(outcome, &tasks::Accuracy::top1, &compare::Agreement::top1);
    json["top5"] = accuracyJson(outcome, &tasks::Accuracy::top5, &compare::Agreement::top5);
    json["task"] = taskJson(outcome.task);
    json["unmatched"] = setting("unmatched");
    if (!outcome.notes.empty())
        json["notes"] = outcome.notes;
    return json;
}

Json compareJson(const walks::CompareOutcome &outcome, const walks::CompareOptions &options,
                 const std::string &effect)
{
    Json json = comparisonJson(outcome, settingsJson(outcome, options.backend, effect));
    if (!options.otherBackend.empty())
        json["against_backend"] = options.otherBackend;
    json["process_peak_bytes"] = peakMemory();
    json["memory"] = {{"model_bytes", graph::parameterBytes(outcome.models.reference)},
                      {"converted_bytes", graph::parameterBytes(outcome.models.other)},
                      {"packed_bytes", outcome.packedBytes},
                      {"values_bytes", outcome.comparison.peakBytes}};
    return json;
}

walks::CompareOutcome outcomeOf(const shards::StatisticsShard &merged)
{
    const auto &shard = std::get<shards::ComparisonShard>(merged.content);
    walks::CompareOutcome outcome = shards::outcomeOf(merged);
    // Outputs of one node stand beside each other.
    graph::Graph &names = outcome.models.reference.graph;
    for (std::size_t k = 0; k < shard.names.size(); ++k) {
        if (k == 0 || shard.names[k].node != shard.names[k - 1].node)
            names.add(
                std::make_shared<graph::NodeDef>(graph::NodeDef{shard.names[k].op, shard.names[k].name, {}}),
                {});
        outcome.comparison.layers[k].node = static_cast<graph::NodeId>(names.nodeCount() - 1);
    }
    return outcome;
}

} // namespace halftone::results
