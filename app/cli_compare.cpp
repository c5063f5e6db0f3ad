#include "app/cli_commands.h"
#include "app/cli_options.h"
#include "app/cli_output.h"
#include "core/base/atomic_file.h"
#include "core/base/text.h"
#include "core/report/comparison_report.h"
#include "core/report/json_values.h"
#include "core/runtime/shown_outputs.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

namespace halftone::cli {
namespace {

using profile::LayerErrors;
using tensor::ErrorFigures;

struct Options
{
    ModelOptions model;
    PolicyOptions policy;
    RangeOptions ranges;
    session::CompareOptions compare;
    std::string effect = "cumulative";
    std::string against;
    std::string csv;
    std::int64_t examples = 0;
    std::int64_t batch = 0;
    std::int64_t threads = 0;
    std::int64_t memory = 1024;
    std::int64_t worst = 0;
    double threshold = 0;
    bool hasThreshold = false;
    bool json = false;
};

Result<void> takeNumbers(Options &options)
{
    const std::pair<std::string_view, std::int64_t> counts[] = {{"--examples", options.examples},
                                                                {"--batch", options.batch},
                                                                {"--threads", options.threads},
                                                                {"--memory", options.memory},
                                                                {"--worst", options.worst}};
    for (const auto &[name, count] : counts) {
        if (count < 0 || count > (std::int64_t{1} << 30))
            return badCall(std::string(name), std::to_string(count), "a positive number");
    }
    session::CompareOptions &compare = options.compare;
    compare.examples.examples = static_cast<std::size_t>(options.examples);
    compare.batch = static_cast<std::size_t>(options.batch);
    compare.threads = static_cast<unsigned>(std::min<std::int64_t>(options.threads, 1024));
    compare.settings.memoryLimit = static_cast<std::size_t>(options.memory) << 20;
    compare.settings.isolated = options.effect != "cumulative";
    if (options.hasThreshold)
        compare.settings.threshold = options.threshold;
    return {};
}

std::string formatted(const char *format, double value)
{
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), format, value);
    return text.data();
}

std::string nameOf(const session::CompareOutcome &outcome, std::size_t layer)
{
    const LayerErrors &row = outcome.comparison.layers[layer];
    return runtime::valueName(outcome.models.reference.graph, row.node, row.output);
}

Json nameOrNull(const session::CompareOutcome &outcome, const std::optional<std::size_t> &layer)
{
    return layer ? Json(nameOf(outcome, *layer)) : Json();
}

Json outputsJson(const session::CompareOutcome &outcome)
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

Json accuracyJson(const session::CompareOutcome &outcome, double session::Accuracy::*share,
                  double profile::Agreement::*agree)
{
    const auto &outputs = outcome.comparison.outputs;
    const bool hasAgreement = !outputs.empty() && outputs[0].agreement;
    return {{"fp32", outcome.reference ? Json((*outcome.reference).*share) : Json()},
            {"mixed", outcome.other ? Json((*outcome.other).*share) : Json()},
            {"agree", hasAgreement ? Json((*outputs[0].agreement).*agree) : Json()}};
}

Json jsonOf(const session::CompareOutcome &outcome, const Options &options)
{
    const profile::Comparison &comparison = outcome.comparison;
    return {{"backend", options.compare.backend},
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
            {"top1", accuracyJson(outcome, &session::Accuracy::top1, &profile::Agreement::top1)},
            {"top5", accuracyJson(outcome, &session::Accuracy::top5, &profile::Agreement::top5)},
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
void printLayers(const session::CompareOutcome &outcome, const Options &options)
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

std::string decisions(const session::CompareOutcome &outcome)
{
    std::string text;
    if (outcome.reference && outcome.other)
        text = "fp32 " + percent(outcome.reference->top1) + ", mixed " + percent(outcome.other->top1) + "; ";
    const auto &outputs = outcome.comparison.outputs;
    if (!outputs.empty() && outputs[0].agreement)
        text += "the same first class for " + percent(outputs[0].agreement->top1);
    return text;
}

void printSummary(const session::Session &session, const session::CompareOutcome &outcome,
                  const Options &options)
{
    const profile::Comparison &comparison = outcome.comparison;
    Table head;
    head.add({"model", printable(session.source().symbolPath)});
    head.add({"backend", options.compare.backend});
    if (outcome.examples > 0)
        head.add({"examples",
                  withThousands(outcome.examples) + ", " + withThousands(outcome.batch) + " at a time"});
    if (const std::string text = decisions(outcome); !text.empty())
        head.add({"top-1", text});
    for (std::size_t k = 0; k < comparison.outputs.size(); ++k)
        head.add({k == 0 ? "outputs" : "",
                  printable(outcome.outputs[k]) + ": " + withUnit(decibels(comparison.outputs[k].figures))});
    head.add({"diverges",
              comparison.firstDivergence
                  ? "first at " + printable(nameOf(outcome, *comparison.firstDivergence)) + " (below "
                      + formatted("%.1f dB", comparison.threshold) + ", NaN or overflow)"
                  : "nowhere (below " + formatted("%.1f dB)", comparison.threshold)});
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

Result<session::CompareOutcome> outcomeOf(const Options &options, session::Session &session,
                                          const std::stop_token &stop)
{
    if (!options.against.empty())
        return session.compareAgainst(options.against, options.compare, progress(stop));
    HALFTONE_TRY(policy::Policy policy, options.policy.read(session));
    options.ranges.apply(policy);
    std::vector<std::string> notes = session.source().notes;
    HALFTONE_TRY(const passes::ShapeMap shapes, session.shapes(notes));
    session::RangeSource source{options.ranges.table, {}, nullptr};
    source.calibrate.examples = options.compare.examples;
    source.calibrate.backend = options.compare.backend;
    source.calibrate.threads = options.compare.threads;
    source.calibrate.batch = options.compare.batch;
    const auto ranges = session.rangesFor(policy, source, progress(stop));
    if (!ranges.ok())
        return options.policy.located(ranges.error());
    const auto converted
        = session.convert(policy, options.policy.strict, progress(stop), &shapes, &ranges.value());
    if (!converted.ok())
        return options.policy.located(converted.error());
    tellWarnings(converted.value()->warnings);
    return session.compare(*converted.value(), options.compare, progress(stop));
}

Result<void> writeCsv(const std::string &path, const session::CompareOutcome &compared)
{
    const std::string text
        = report::comparisonCsv(compared.models.reference.graph, compared.comparison.layers);
    HALFTONE_TRY(AtomicFile file, AtomicFile::create(path));
    HALFTONE_CHECK(file.write(text));
    return file.commit();
}

Result<void> compare(Options options, const std::stop_token &stop)
{
    HALFTONE_CHECK(takeNumbers(options));
    if (!options.against.empty() && options.compare.settings.isolated)
        return badCall("--effect", options.effect + " with --against", "cumulative");
    HALFTONE_TRY(session::Session session, options.model.open());
    HALFTONE_TRY(const session::CompareOutcome compared, outcomeOf(options, session, stop));
    if (!options.csv.empty())
        HALFTONE_CHECK(writeCsv(options.csv, compared));
    if (options.json)
        printJson(jsonOf(compared, options));
    else
        printSummary(session, compared, options);
    return {};
}

} // namespace

void addCompare(CLI::App &app, Action &chosen)
{
    const auto options = std::make_shared<Options>();
    session::CompareOptions &compared = options->compare;
    CLI::App *command = app.add_subcommand("compare", "What a conversion costs in accuracy, layer by layer");
    options->model.addTo(*command);
    options->policy.addTo(*command);
    options->ranges.addTo(*command);
    command->remove_option(command->get_option("--inputs")); // here it is the data to compare on
    command->add_option("--inputs", compared.examples.inputs, "Arrays by input name, or a folder of pictures")
        ->type_name("F.npz|DIR")
        ->required();
    command
        ->add_option("--preprocess", compared.examples.preprocess,
                     "How pictures become inputs; default: preprocess.json beside the model")
        ->type_name("FILE.json");
    command->add_option("--labels", compared.examples.labels, "The right classes: adds the accuracy")
        ->type_name("FILE.csv|.npz");
    command->add_option("--examples", options->examples, "Only the first N")->type_name("N");
    command->add_option("--batch", options->batch, "N examples at a time")->type_name("N");
    command
        ->add_option("--effect", options->effect,
                     "cumulative: all layers lowered; isolated: also each layer alone; both")
        ->check(CLI::IsMember({"cumulative", "isolated", "both"}))
        ->type_name("EFFECT");
    command->add_option("--against", options->against, "Compare with this model, by the names of nodes")
        ->type_name("MODEL2");
    command
        ->add_option("--threshold", options->threshold,
                     "SQNR below which a layer counts as diverged; default: half of its bits")
        ->type_name("DB");
    command->add_option("--worst", options->worst, "Show the N worst layers")->type_name("N");
    command->add_option("--memory", options->memory, "Limit for the values held at a time (1024)")
        ->type_name("MB");
    command->add_option("--csv", options->csv, "Write all figures")->type_name("F");
    command->add_option("--backend", compared.backend, "cpu (default), reference or cuda")->type_name("NAME");
    command->add_option("--threads", options->threads, "Default: as many as the machine has")->type_name("N");
    command->add_flag("--json", options->json, "Print the outcome as JSON");
    command->callback([command, options, &chosen] {
        options->hasThreshold = command->count("--threshold") > 0;
        chosen = [options](const std::stop_token &stop) { return compare(*options, stop); };
    });
}

} // namespace halftone::cli
