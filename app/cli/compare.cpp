#include "app/cli/commands.h"
#include "app/cli/data_options.h"
#include "app/cli/files.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "core/base/atomic_file.h"
#include "core/base/text.h"
#include "core/infer/shown_outputs.h"
#include "core/policy/policy_options.h"
#include "core/report/comparison_report.h"
#include "core/report/json_values.h"

#include <algorithm>
#include <memory>

namespace halftone::cli {
namespace {

using profile::LayerErrors;
using tensor::ErrorFigures;

struct CompareOptions
{
    ModelOptions model;
    PolicyOptions policy;
    RangeOptions ranges;
    DataOptions data;
    jobs::CompareOptions compare; ///< with the data, once they were taken
    std::string effect = "cumulative";
    std::string against;
    std::string csv;
    std::string arithmetic = "defined";
    std::int64_t memory = 1024;
    std::int64_t worst = 0;
    double threshold = 0;
    bool hasThreshold = false;
    bool json = false;
};

Result<void> takeOptions(CompareOptions &options)
{
    HALFTONE_CHECK(checkCounts({{"--memory", options.memory}, {"--worst", options.worst}}));
    jobs::CompareOptions &compare = options.compare;
    HALFTONE_CHECK(options.data.take(compare));
    compare.settings.memoryLimit = static_cast<std::size_t>(options.memory) << 20;
    compare.arithmetic = arithmeticNamed(options.arithmetic);
    compare.settings.isolated = options.effect != "cumulative";
    if (options.hasThreshold)
        compare.settings.threshold = options.threshold;
    return {};
}

std::string nameOf(const jobs::CompareOutcome &outcome, std::size_t layer)
{
    const LayerErrors &row = outcome.comparison.layers[layer];
    return infer::valueName(outcome.models.reference.graph, row.node, row.output);
}

Json nameOrNull(const jobs::CompareOutcome &outcome, const std::optional<std::size_t> &layer)
{
    return layer ? Json(nameOf(outcome, *layer)) : Json();
}

bool isAnalysed(const jobs::CompareOutcome &outcome)
{
    return tensor::isForAnalysis(outcome.models.float16As);
}

Json outputsJson(const jobs::CompareOutcome &outcome)
{
    Json outputs = Json::array();
    for (std::size_t k = 0; k < outcome.comparison.outputs.size(); ++k) {
        const profile::OutputErrors &output = outcome.comparison.outputs[k];
        Json row{{"name", outcome.outputs[k]}};
        row.update(Json::parse(report::figuresJson(output.figures)));
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

Json accuracyJson(const jobs::CompareOutcome &outcome, double jobs::Accuracy::*share,
                  double profile::Agreement::*agree)
{
    const auto &outputs = outcome.comparison.outputs;
    const bool hasAgreement = !outputs.empty() && outputs[0].agreement;
    return {{"fp32", outcome.reference ? Json((*outcome.reference).*share) : Json()},
            {"mixed", outcome.other ? Json((*outcome.other).*share) : Json()},
            {"agree", hasAgreement ? Json((*outputs[0].agreement).*agree) : Json()}};
}

Json jsonOf(const jobs::CompareOutcome &outcome, const CompareOptions &options)
{
    const profile::Comparison &comparison = outcome.comparison;
    return {
        {"backend", options.compare.backend},
        {"arithmetic", backends::nameOf(outcome.arithmetic)},
        {"warnings", warningsJson(outcome.warnings)},
        {"analysed_format", isAnalysed(outcome) ? Json(tensor::nameOf(outcome.models.float16As)) : Json()},
        {"effect", options.effect},
        {"examples", outcome.examples},
        {"batch", outcome.batch},
        {"seconds", outcome.seconds},
        {"peak_bytes", comparison.peakBytes},
        {"layers", Json::parse(report::layersJson(outcome.models.reference.graph, comparison.layers))},
        {"first_divergence", nameOrNull(outcome, comparison.firstDivergence)},
        {"threshold_db", comparison.threshold},
        {"first_not_finite_fp32", nameOrNull(outcome, comparison.firstUnclean)},
        {"outputs", outputsJson(outcome)},
        {"top1", accuracyJson(outcome, &jobs::Accuracy::top1, &profile::Agreement::top1)},
        {"top5", accuracyJson(outcome, &jobs::Accuracy::top5, &profile::Agreement::top5)},
        {"task", taskJson(outcome.task)},
        {"unmatched", {{"model", outcome.unmatched.reference}, {"other", outcome.unmatched.other}}}};
}

std::string decibels(const std::optional<ErrorFigures> &figures)
{
    if (!figures)
        return "-";
    if (figures->nan > 0 || figures->overflow > 0 || std::isnan(figures->sqnrDb))
        return "failed";
    return std::isinf(figures->sqnrDb) && figures->sqnrDb > 0 ? "exact" : formatted("%.1f", figures->sqnrDb);
}

/// "41.0 dB", but "exact" and "failed" as they are.
std::string withUnit(const std::string &decibels)
{
    return decibels == "exact" || decibels == "failed" || decibels == "-" ? decibels : decibels + " dB";
}

/// Layers in order, or the worst ones first.
void printLayers(const jobs::CompareOutcome &outcome, const CompareOptions &options)
{
    const auto &layers = outcome.comparison.layers;
    const bool isolated = options.compare.settings.isolated;
    std::vector<std::size_t> order = report::worstFirst(layers);
    if (options.worst > 0) {
        order.resize(std::min(order.size(), static_cast<std::size_t>(options.worst)));
    } else {
        order.clear();
        for (std::size_t k = 0; k < layers.size(); ++k) {
            if (layers[k].cumulative)
                order.push_back(k);
        }
    }
    std::vector<std::string> header{"layer",   "operator", "type",     "SQNR dB",
                                    "max abs", "cosine",   "overflow", "NaN"};
    if (isolated)
        header.insert(header.end(), {"alone dB", "alone at output dB"});
    Table table(std::move(header));
    for (const std::size_t k : order) {
        const LayerErrors &layer = layers[k];
        const ErrorFigures figures = layer.cumulative.value_or(ErrorFigures());
        std::vector<std::string> row{printable(nameOf(outcome, k)),
                                     printable(outcome.models.reference.graph.node(layer.node).op),
                                     std::string(tensor::nameOf(layer.dtype)),
                                     layer.shapesDiffer ? "other shape" : decibels(layer.cumulative),
                                     formatted("%.3g", figures.maxAbs),
                                     formatted("%.6f", figures.cosine),
                                     std::to_string(figures.overflow),
                                     std::to_string(figures.nan)};
        if (isolated)
            row.insert(row.end(), {decibels(layer.isolated), decibels(layer.isolatedAtOutputs)});
        table.add(std::move(row));
    }
    print(table.toString());
}

std::string percent(double share)
{
    return formatted("%.2f %%", 100 * share);
}

std::string decisions(const jobs::CompareOutcome &outcome)
{
    std::string text;
    if (outcome.reference && outcome.other)
        text = "fp32 " + percent(outcome.reference->top1) + ", mixed " + percent(outcome.other->top1) + "; ";
    const auto &outputs = outcome.comparison.outputs;
    const bool areClasses = !outcome.task || outcome.reference || outcome.task->metric == jobs::Metric::Top1
        || outcome.task->metric == jobs::Metric::Top5;
    if (areClasses && !outputs.empty() && outputs[0].agreement)
        text += "agreement " + percent(outputs[0].agreement->top1);
    return text;
}

void printSummary(const session::Session &session, const jobs::CompareOutcome &outcome,
                  const CompareOptions &options)
{
    const profile::Comparison &comparison = outcome.comparison;
    Table head;
    head.add({"model", printable(session.source().modelPath)});
    head.add({"backend", options.compare.backend});
    head.add({"arithmetic", std::string(backends::meaningOf(outcome.arithmetic))});
    if (isAnalysed(outcome))
        head.add({"format",
                  std::string(tensor::nameOf(outcome.models.float16As))
                      + ", for analysis: values are rounded to it, sums are float32; the lists are those of "
                        "float16"});
    if (outcome.examples > 0)
        head.add({"examples",
                  withThousands(outcome.examples) + ", " + withThousands(outcome.batch) + " at a time"});
    if (const std::string text = decisions(outcome); !text.empty())
        head.add({"top-1", text});
    if (outcome.task && outcome.task->metric != jobs::Metric::Top1)
        head.add({std::string(jobs::titleOf(outcome.task->metric)), taskText(*outcome.task)});
    for (std::size_t k = 0; k < comparison.outputs.size(); ++k)
        head.add({k == 0 ? "outputs" : "",
                  printable(outcome.outputs[k]) + ": " + withUnit(decibels(comparison.outputs[k].figures))});
    head.add({"first layer",
              "below " + formatted("%.1f dB", comparison.threshold) + ", with NaN or overflow: "
                  + (comparison.firstDivergence ? printable(nameOf(outcome, *comparison.firstDivergence))
                                                : "none")});
    for (const auto &[names, where] : {std::pair(&outcome.unmatched.reference, "the model"),
                                       std::pair(&outcome.unmatched.other, "the other one")}) {
        if (!names->empty())
            head.add({"unmatched",
                      counted(names->size(), "node", "nodes") + " of " + where + ": "
                          + printable(joined(*names, 4))});
    }
    head.add({"memory", humanBytes(comparison.peakBytes) + " at most for the layers' values"});
    head.add({"time", formatted("%.2f s", outcome.seconds)});
    print(head.toString() + '\n');
    printLayers(outcome, options);
}

Result<jobs::CompareOutcome> outcomeOf(const CompareOptions &options, session::Session &session,
                                       const std::stop_token &stop)
{
    jobs::CompareOptions compare = options.compare;
    if (!options.against.empty()) {
        HALFTONE_TRY(compare.accumulator, policy::accumulatorNamed(options.policy.accumulate));
        auto outcome = session.compareAgainst(options.against, compare, progress(stop));
        if (outcome.ok())
            tellWarnings(outcome.value().warnings);
        return outcome;
    }
    HALFTONE_TRY(policy::Policy policy, options.policy.read(session));
    options.ranges.apply(policy);
    compare.accumulator = policy.accumulate.value_or(tensor::DType::Unknown);
    std::vector<std::string> notes = session.source().notes;
    HALFTONE_TRY(const infer::ShapeMap shapes, session.shapes(notes));
    session::DeriveRequest request{session.source().model, session.source().modelPath, policy, &shapes};
    request.strict = options.policy.strict;
    request.isForAnalysis = true;
    request.ranges.table = options.ranges.table;
    request.ranges.calibrate.examples = options.compare.examples;
    request.ranges.calibrate.backend = options.compare.backend;
    request.ranges.calibrate.threads = options.compare.threads;
    request.ranges.calibrate.batch = options.compare.batch;
    const auto derived = session.derive(request, progress(stop));
    if (!derived.ok())
        return options.policy.located(derived.error());
    tellWarnings(derived.value().converted->warnings);
    return session.compare(*derived.value().converted, compare, progress(stop));
}

Result<void> writeCsv(const std::string &path, const jobs::CompareOutcome &compared)
{
    return writeWhole(path,
                      report::comparisonCsv(compared.models.reference.graph, compared.comparison.layers));
}

Result<void> compare(CompareOptions options, const std::stop_token &stop)
{
    HALFTONE_CHECK(takeOptions(options));
    if (!options.against.empty() && options.compare.settings.isolated)
        return badCall("--effect", options.effect + " with --against", "cumulative");
    HALFTONE_CHECK(CommandFiles()
                       .reads(options.model)
                       .reads(options.compare.examples, options.model)
                       .reads("--policy", options.policy.file)
                       .reads("--table", options.ranges.table)
                       .reads("--against", options.against)
                       .reads("--against", io::paramsBeside(options.against).value_or(std::string()))
                       .writes("--csv", options.csv)
                       .check());
    HALFTONE_TRY(session::Session session, options.model.open());
    HALFTONE_TRY(const jobs::CompareOutcome compared, outcomeOf(options, session, stop));
    if (!options.csv.empty())
        HALFTONE_CHECK(writeCsv(options.csv, compared));
    if (options.json)
        printJson(jsonOf(compared, options));
    else
        printSummary(session, compared, options);
    return {};
}

} // namespace

void addCompare(Parser &app, Action &chosen)
{
    const auto options = std::make_shared<CompareOptions>();
    Command command = app.command("compare", "What a conversion costs in accuracy, layer by layer");
    options->model.addTo(command);
    options->policy.addTo(command);
    options->ranges.addTo(command);
    command.remove("--inputs"); // here it is the data to compare on
    options->data.addTo(command, DataOptions::Labels::Accuracy);
    command
        .option("--effect", &options->effect,
                "cumulative: all layers lowered; isolated: also each layer alone; both")
        .oneOf({"cumulative", "isolated", "both"})
        .type("EFFECT");
    command.option("--against", &options->against, "Compare with this model, by the names of nodes")
        .type("MODEL2");
    command
        .option("--threshold", &options->threshold,
                "SQNR for the first layer below it; default: half of the type's bits")
        .type("DB");
    command.option("--worst", &options->worst, "Show the N worst layers").type("N");
    command.option("--memory", &options->memory, "Limit for the values held at a time (1024)").type("MB");
    command.option("--csv", &options->csv, "Write all figures").type("F").notEmpty();
    addArithmetic(command, options->arithmetic);
    command.flag("--json", options->json, "Print the outcome as JSON");
    command.onChosen([command, options, &chosen] {
        options->hasThreshold = command.isGiven("--threshold");
        chosen = [options](const std::stop_token &stop) { return compare(*options, stop); };
    });
}

} // namespace halftone::cli
