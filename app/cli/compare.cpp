#include "app/cli/commands.h"
#include "app/cli/data_options.h"
#include "app/cli/files.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/shards.h"
#include "app/cli/weight_options.h"
#include "core/base/atomic_file.h"
#include "core/base/process_memory.h"
#include "core/base/text.h"
#include "core/infer/shown_outputs.h"
#include "core/policy/policy_options.h"
#include "core/report/comparison_report.h"
#include "core/report/json_values.h"
#include "core/results/comparison_json.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>

namespace halftone::cli {
namespace {

using compare::LayerErrors;
using results::isAnalysed;
using results::nameOf;
using tensor::ErrorFigures;

struct CompareOptions
{
    ModelOptions model;
    PolicyOptions policy;
    RangeOptions ranges;
    WeightOptions weights;
    DataOptions data;
    PrecisionOption precision;
    walks::CompareOptions compare; ///< with the data, once they were taken
    std::string effect = "cumulative";
    std::string against;
    std::string csv;
    std::string out;
    ShardOptions shard;
    std::string arithmetic = "defined";
    std::string memory = "1024";
    std::int64_t worst = 0;
    double threshold = 0;
    bool hasThreshold = false;
    bool json = false;
};

Result<void> takeOptions(CompareOptions &options)
{
    HALFTONE_CHECK(checkCounts({{"--worst", options.worst}}));
    walks::CompareOptions &compare = options.compare;
    HALFTONE_CHECK(options.data.take(compare));
    compare.precision = options.precision.type();
    HALFTONE_TRY(compare.settings.memoryLimit, memoryOf(options.memory));
    compare.arithmetic = arithmeticNamed(options.arithmetic);
    compare.settings.isolated = options.effect != "cumulative";
    if (options.hasThreshold)
        compare.settings.threshold = options.threshold;
    compare.eachAlone = true;
    HALFTONE_CHECK(options.shard.take(options.out));
    compare.shard = options.shard.first;
    if (!options.shard.isGiven() && !options.out.empty())
        return badCall("--out", "needs --shard", "; use --json or --csv for a whole comparison");
    return {};
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
void printLayers(const walks::CompareOutcome &outcome, const CompareOptions &options)
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
        header.insert(header.end(), {"isolated dB", "isolated at output dB"});
    Table table(std::move(header));
    for (const std::size_t k : order) {
        const LayerErrors &layer = layers[k];
        const ErrorFigures figures = layer.cumulative.value_or(ErrorFigures());
        std::vector<std::string> row{printable(nameOf(outcome, k)),
                                     printable(outcome.models.reference.graph.node(layer.node).op),
                                     std::string(tensor::nameOf(layer.dtype)),
                                     layer.shapesDiffer ? "shape differs" : decibels(layer.cumulative),
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

std::string decisions(const walks::CompareOutcome &outcome)
{
    std::string text;
    if (outcome.reference && outcome.other)
        text = "fp32 " + percent(outcome.reference->top1) + ", mixed " + percent(outcome.other->top1) + "; ";
    const auto &outputs = outcome.comparison.outputs;
    const bool areClasses = outcome.reference || (outcome.task && tasks::isOfClasses(outcome.task->metric));
    if (areClasses && !outputs.empty() && outputs[0].agreement)
        text += "agreement " + percent(outputs[0].agreement->top1);
    return text;
}

void printSummary(const session::Session &session, const walks::CompareOutcome &outcome,
                  const CompareOptions &options)
{
    const compare::Comparison &comparison = outcome.comparison;
    Table head;
    head.add({"model", printable(session.source().modelPath)});
    head.add({"backend",
              options.compare.backend
                  + (options.compare.otherBackend.empty() ? "" : " vs. " + options.compare.otherBackend)});
    head.add({"arithmetic", backends::meaningOf(outcome.arithmetic)});
    if (isAnalysed(outcome))
        head.add({"format",
                  std::string(tensor::nameOf(outcome.models.float16As))
                      + ", for analysis only: values are rounded to it, with float32 sums and the lists of "
                        "float16"});
    if (outcome.examples > 0)
        head.add(
            {"examples", withThousands(outcome.examples) + " in batches of " + withThousands(outcome.batch)});
    if (const std::string text = decisions(outcome); !text.empty())
        head.add({"top-1", text});
    if (outcome.task && outcome.task->metric != tasks::Metric::Top1)
        head.add({std::string(tasks::titleOf(outcome.task->metric)), taskText(*outcome.task)});
    for (std::size_t k = 0; k < comparison.outputs.size(); ++k)
        head.add({k == 0 ? "outputs" : "",
                  printable(outcome.outputs[k]) + ": " + withUnit(decibels(comparison.outputs[k].figures))});
    head.add({"first layer",
              "below " + formatted("%.1f dB", comparison.threshold) + " or with NaN or overflow: "
                  + (comparison.firstDivergence ? printable(nameOf(outcome, *comparison.firstDivergence))
                                                : "none")});
    for (const auto &[names, where] : {std::pair(&outcome.unmatched.reference, "the model"),
                                       std::pair(&outcome.unmatched.other, "the other model")}) {
        if (!names->empty())
            head.add({"unmatched",
                      counted(names->size(), "node", "nodes") + " of " + where + ": "
                          + printable(joined(*names, 4))});
    }
    for (const std::string &note : outcome.notes)
        head.add({"note", printable(note)});
    head.add({"memory",
              humanBytes(peakMemory()) + " peak; weights of the two models "
                  + humanBytes(graph::parameterBytes(outcome.models.reference)) + " and "
                  + humanBytes(graph::parameterBytes(outcome.models.other)) + ", packed weights "
                  + (outcome.packedBytes > 0 ? humanBytes(outcome.packedBytes) : std::string("not kept"))
                  + ", intermediate tensors " + humanBytes(comparison.peakBytes)});
    head.add({"time", formatted("%.2f s", outcome.seconds)});
    print(head.toString() + '\n');
    printLayers(outcome, options);
}

/// One model on two backends, without another precision.
bool comparesBackends(const CompareOptions &options)
{
    return !options.compare.otherBackend.empty() && options.against.empty() && !options.policy.isGiven()
        && !options.weights.isGiven();
}

/// Over the part of the examples that the options tell.
using Comparing = std::function<Result<walks::CompareOutcome>(const walks::CompareOptions &)>;

/// With another model, nodes matched by name.
Comparing comparingWith(graph::Model other, const session::Session &session, const std::stop_token &stop)
{
    return [&session, &stop,
            other = std::move(other)](const walks::CompareOptions &compare) -> Result<walks::CompareOutcome> {
        HALFTONE_TRY(compare::ComparedModels models, compare::pairByName(session.source().model, other));
        auto outcome
            = walks::compareModels(std::move(models), session.source().modelPath, compare, progress(stop));
        return outcome.ok() ? std::move(outcome)
                            : Result<walks::CompareOutcome>(aboutModel(std::move(outcome).error(), session));
    };
}

/// The session with what the codes of its weights stand for in place of these.
Result<session::Session> withRoundedWeights(const session::Session &session, const policy::Policy &policy)
{
    auto rounded = weights::roundWeights(session.source().model, weightsOf(policy));
    if (!rounded.ok())
        return aboutModel(std::move(rounded).error(), session);
    io::LoadedModel loaded = session.source();
    loaded.model = std::move(rounded).value().model;
    return session.withSource(std::make_shared<const io::LoadedModel>(std::move(loaded)));
}

/// What is compared is made here, once for all parts. Needs: the arguments outlive it.
Result<Comparing> comparingOf(CompareOptions &options, session::Session &session, const std::stop_token &stop)
{
    if (!options.against.empty()) {
        HALFTONE_TRY(options.compare.accumulator, policy::accumulatorNamed(options.policy.accumulate));
        return Comparing([&](const walks::CompareOptions &compare) {
            auto outcome = session.compareAgainst(options.against, compare, progress(stop));
            if (outcome.ok())
                tellWarnings(outcome.value().warnings);
            return outcome;
        });
    }
    if (comparesBackends(options))
        return Comparing([&](const walks::CompareOptions &compare) {
            return session.compareBackends(compare, progress(stop));
        });
    HALFTONE_TRY(policy::Policy policy, options.policy.read(session));
    options.ranges.apply(policy);
    HALFTONE_CHECK(options.weights.apply(policy));
    const bool hasWeights = !policy.weights.empty();
    HALFTONE_TRY(const session::Session changed,
                 hasWeights ? withRoundedWeights(session, policy) : Result<session::Session>(session));
    if (hasWeights && !options.policy.isGiven())
        return comparingWith(changed.source().model, session, stop);
    options.compare.accumulator = policy.accumulate.value_or(tensor::DType::Unknown);
    std::vector<std::string> notes = session.source().notes;
    HALFTONE_TRY(const infer::ShapeMap shapes, changed.shapes(notes));
    session::DeriveRequest request{changed.source().model, changed.source().modelPath, policy, &shapes};
    request.strict = options.policy.strict;
    request.storesWeights = true;
    request.isForAnalysis = true;
    request.ranges.table = options.ranges.table;
    request.ranges.calibrate.examples = options.compare.examples;
    request.ranges.calibrate.backend = options.compare.backend;
    request.ranges.calibrate.threads = options.compare.threads;
    request.ranges.calibrate.batch = options.compare.batch;
    const auto derived = changed.derive(request, progress(stop));
    if (!derived.ok())
        return options.policy.located(derived.error());
    tellWarnings(derived.value().converted->warnings);
    if (hasWeights)
        return comparingWith(derived.value().converted->model, session, stop);
    return Comparing([&, converted = derived.value().converted](const walks::CompareOptions &compare) {
        return session.compare(*converted, compare, progress(stop));
    });
}

Result<void> writeCsv(const std::string &path, const walks::CompareOutcome &compared)
{
    return writeWhole(path,
                      report::comparisonCsv(compared.models.reference.graph, compared.comparison.layers));
}

Result<shards::StatisticsOrigin> comparisonOrigin(const CompareOptions &options,
                                                  const session::Session &session,
                                                  const walks::CompareOutcome &compared)
{
    HALFTONE_TRY(shards::StatisticsOrigin origin,
                 originOf(compared.models.reference, session.source().modelPath, options.compare.examples,
                          results::settingsJson(compared, options.compare.backend, options.effect)));
    constexpr int kApart = 1; // two equal models do not cancel
    origin.modelHash ^= std::rotl(shards::hashOf(compared.models.other), kApart);
    origin.all = compared.all;
    return origin;
}

Result<void> writeComparisonShard(const CompareOptions &options, const shards::StatisticsOrigin &origin,
                                  const walks::Shard &which, const walks::CompareOutcome &compared)
{
    shards::ComparisonShard shard{
        *compared.parts, {}, compared.outputs, options.compare.settings.threshold, compared.seconds};
    for (const compare::LayerErrors &layer : compared.comparison.layers) {
        const graph::NodeDef &node = compared.models.reference.graph.node(layer.node);
        shard.names.push_back({layer.node, node.name, node.op});
    }
    return writeShard({origin, which, compared.examples, std::move(shard)}, options.out);
}

Result<void> writeComparisonShards(const CompareOptions &options, const session::Session &session,
                                   const Comparing &comparing)
{
    std::optional<shards::StatisticsOrigin> origin; // of all parts
    walks::CompareOptions compare = options.compare;
    return options.shard.forEach([&](const walks::Shard &shard) -> Result<void> {
        compare.shard = shard;
        HALFTONE_TRY(const walks::CompareOutcome compared, comparing(compare));
        if (!compared.parts)
            return badCall("--shard", "the examples depend on each other and cannot be split",
                           "; run without --shard");
        if (!origin) {
            HALFTONE_TRY(origin, comparisonOrigin(options, session, compared));
        }
        return writeComparisonShard(options, *origin, shard, compared);
    });
}

Result<void> compare(CompareOptions options, const std::stop_token &stop)
{
    HALFTONE_CHECK(takeOptions(options));
    if (options.weights.isGiven() && options.compare.settings.isolated)
        return badCall("--effect", options.effect + " with --weights", "cumulative");
    if (options.weights.isGiven() && !options.against.empty())
        return badCall("--weights", "cannot be combined with --against");
    if ((!options.against.empty() || comparesBackends(options)) && options.compare.settings.isolated)
        return badCall("--effect",
                       options.effect
                           + (options.against.empty() ? " with --against-backend" : " with --against"),
                       "cumulative");
    if (!options.compare.otherBackend.empty() && options.shard.isGiven())
        return badCall("--shard", "cannot be combined with --against-backend");
    HALFTONE_CHECK(CommandFiles()
                       .reads(options.model)
                       .reads(options.compare.examples, options.model)
                       .reads("--policy", options.policy.file)
                       .reads("--table", options.ranges.table)
                       .reads("--against", options.against)
                       .reads("--against", io::paramsBeside(options.against).value_or(std::string()))
                       .writes("--csv", options.csv)
                       .writes("--out", options.out)
                       .check());
    HALFTONE_TRY(session::Session session, options.model.open(stop));
    if (options.shard.isCount)
        return printMaxShards(session.source(), options.compare.examples, options.compare.backend,
                              options.compare.batch, options.compare.settings.memoryLimit);
    HALFTONE_TRY(const Comparing comparing, comparingOf(options, session, stop));
    if (options.shard.isGiven())
        return writeComparisonShards(options, session, comparing);
    HALFTONE_TRY(const walks::CompareOutcome compared, comparing(options.compare));
    tellNotes(session.source().modelPath, compared.notes);
    if (!options.csv.empty())
        HALFTONE_CHECK(writeCsv(options.csv, compared));
    if (!options.json) {
        printSummary(session, compared, options);
        return {};
    }
    printJson(results::compareJson(compared, options.compare, options.effect));
    return {};
}

} // namespace

void addCompare(Parser &app, Action &chosen)
{
    const auto options = std::make_shared<CompareOptions>();
    Command command = app.command("compare", "Compare a converted model with the original, layer by layer");
    options->model.addTo(command);
    options->policy.addTo(command);
    options->ranges.addTo(command);
    options->weights.addTo(command, {});
    command.remove("--inputs"); // here it is the data to compare on
    options->data.addTo(command, DataOptions::Labels::Accuracy);
    command
        .option("--effect", &options->effect,
                "Errors with all layers lowered (cumulative), with one layer lowered at a time (isolated), "
                "or both (default: cumulative)")
        .oneOf({"cumulative", "isolated", "both"})
        .type("EFFECT");
    command.option("--against", &options->against, "Compare with this model; layers are matched by name")
        .type("MODEL2");
    command
        .option("--against-backend", &options->compare.otherBackend,
                "Run the second model on this backend; without a policy or --against, compare the model with "
                "itself there")
        .type("NAME");
    options->precision.addTo(command);
    command
        .option("--threshold", &options->threshold,
                "Report the first layer whose SQNR is below this many dB (default: half of the type's "
                "significant bits at 6.02 dB each, e.g. 33 for float16)")
        .type("DB");
    command.option("--worst", &options->worst, "Show only the N worst layers").type("N");
    command
        .option("--memory", &options->memory,
                "Memory limit for intermediate tensors, e.g. 512MiB or 2GiB (default: 1024 MiB)")
        .type("SIZE");
    command.option("--out", &options->out, "With --shard: write the shard's statistics to this file")
        .type("S")
        .notEmpty();
    options->shard.addTo(command);
    options->shard.addCountTo(command);
    command.option("--csv", &options->csv, "Write all figures as CSV").type("F").notEmpty();
    addArithmetic(command, options->arithmetic);
    command.flag("--json", options->json, "Print the result as JSON");
    command.onChosen([command, options, &chosen] {
        options->hasThreshold = command.isGiven("--threshold");
        chosen = [options](const std::stop_token &stop) { return compare(*options, stop); };
    });
}

} // namespace halftone::cli
