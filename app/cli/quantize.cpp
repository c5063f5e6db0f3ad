#include "app/cli/calibration_options.h"
#include "app/cli/commands.h"
#include "app/cli/files.h"
#include "app/cli/format_texts.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/weight_options.h"
#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/machines/local_chips.h"
#include "core/mixed/chip_warnings.h"
#include "core/mixed/restrict_to_hardware.h"
#include "core/policy/weight_choice.h"
#include "core/quantize/pairs.h"
#include "core/results/quantization_json.h"
#include "core/session/for_runtime.h"
#include "core/walks/gptq_weights.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <memory>

namespace halftone::cli {
namespace {

struct QuantizeOptions
{
    ModelOptions model;
    walks::QuantizeSettings settings; ///< its calibration comes from `calibration`
    CalibrationOptions calibration;
    WeightOptions weights; ///< without its form
    std::string out;
    std::string form; ///< empty: the usual one of the model's format
    std::string dtype = "auto";
    std::string calib;
    std::string mode = "smart";
    std::string granularity; ///< likewise
    std::string levels = "mxnet";
    std::string hardware;
    std::string runtime; ///< that the result is for; empty: any
    bool json = false;
};

Result<void> takeOptions(QuantizeOptions &options)
{
    walks::CalibrateOptions &calibrate = options.settings.calibrate;
    quantize::QuantizeOptions &quantize = options.settings.options;
    HALFTONE_CHECK(options.calibration.take());
    calibrate = options.calibration.settings;
    const bool hasTable = !options.settings.table.empty();
    const bool hasData = !calibrate.examples.inputs.empty();
    if (hasTable && (hasData || !options.calib.empty()))
        return badCall("--table",
                       "cannot be combined with --inputs or --calib: the table already holds the ranges");
    if (options.calib.empty())
        options.calib = hasTable || hasData ? "output" : "none";
    if (options.calib != "none" && !hasTable && !hasData)
        return badCall("--calib", options.calib + " needs calibration data",
                       "; pass --inputs F.npz|DIR or --table T.json");
    if (options.settings.correctsBiases && (!hasData || options.calib == "none"))
        return badCall("--correct-biases",
                       hasData ? "cannot be combined with --calib none" : "needs calibration data",
                       hasData ? "; choose a calibration method" : "; pass --inputs F.npz|DIR");
    quantize.isCalibrated = options.calib != "none";
    calibrate.weighsOutputs = options.calib == "output";
    if (quantize.isCalibrated)
        calibrate.threshold.method
            = calibration::thresholdMethodNamed(options.calib == "naive" ? "minmax" : options.calib)
                  .value_or(calibration::ThresholdMethod::Mse);
    quantize.codes = options.dtype == "int8" ? quantize::QuantizedCodes::Int8
        : options.dtype == "uint8"           ? quantize::QuantizedCodes::UInt8
                                             : quantize::QuantizedCodes::Auto;
    quantize.isFull = options.mode == "full";
    quantize.isNeutral = options.levels == "neutral";
    return {};
}

/// What depends on the model's format.
Result<void> takeForm(QuantizeOptions &options, const graph::Graph &graph)
{
    quantize::QuantizeOptions &quantize = options.settings.options;
    const bool inPairs = quantize::isInPairs(graph);
    const std::vector<std::string> forms = inPairs ? std::vector<std::string>{"qdq", "qoperator"}
                                                   : std::vector<std::string>{"onednn", "plain"};
    if (options.form.empty())
        options.form = forms.front();
    if (std::ranges::find(forms, options.form) == forms.end())
        return badCall("--form",
                       options.form + " is not available for " + std::string(dialect::of(graph).title())
                           + " models",
                       forms.front() + " or " + forms.back());
    if (inPairs && !quantize.isCalibrated)
        return badCall("--calib",
                       "form " + options.form + " stores the ranges in the model and needs calibration data",
                       "; pass --inputs F.npz|DIR or --table T.json");
    if (inPairs && options.levels != "mxnet")
        return badCall("--levels",
                       "not available for form " + options.form + ": its codes always end at 127 and 255",
                       "; leave it out");
    if (options.granularity.empty())
        options.granularity = inPairs ? "channel" : "tensor";
    quantize.form
        = options.form == "plain" ? quantize::QuantizedForm::Plain : quantize::QuantizedForm::Onednn;
    quantize.asOperators = options.form == "qoperator";
    quantize.perChannel = options.granularity == "channel";
    return {};
}

/// The form and the codes that the runtime takes.
Result<void> takeRuntime(QuantizeOptions &options, const graph::Graph &graph, std::vector<std::string> &notes)
{
    if (options.runtime.empty())
        return {};
    HALFTONE_TRY(const runtimes::KernelTable *const table, session::runtimeFor(options.runtime, graph));
    HALFTONE_CHECK(session::checkOpset(*table, graph));
    if (std::string note = session::documentedNote(*table); !note.empty())
        notes.push_back(std::move(note));
    for (std::string &note : session::fitQuantization(*table, options.settings.options))
        notes.push_back(std::move(note));
    if (!options.settings.options.asOperators)
        options.form = "qdq";
    return {};
}

/// What the chip has no unit for stays as it is; a warning tells where int8 gains nothing on it.
Result<void> takeHardware(QuantizeOptions &options, const graph::Graph &graph,
                          std::vector<policy::Warning> &warnings)
{
    if (options.hardware.empty())
        return {};
    HALFTONE_TRY(const auto chip, machines::findChip(options.hardware));
    options.settings.options.refusals = mixed::refusalsOfCodes(graph, *chip);
    if (auto slow = mixed::slowPathWarning(*chip, tensor::DType::I8))
        warnings.push_back(*std::move(slow));
    return {};
}

void printSkipped(const std::vector<quantize::SkippedNode> &nodes, const std::string &title)
{
    if (nodes.empty())
        return;
    Table skipped({title, "operator", "why"});
    for (const quantize::SkippedNode &node : nodes)
        skipped.add({printable(node.name), printable(node.op), printable(node.why)});
    print(skipped.toString() + '\n');
}

void printSummary(const QuantizeOptions &options, const walks::QuantizeOutcome &outcome,
                  const std::vector<std::string> &written)
{
    std::array<char, 32> seconds{};
    std::snprintf(seconds.data(), seconds.size(), "%.2f s", outcome.seconds);
    Table head;
    head.add({"model", printable(options.model.model)});
    head.add({"form", options.form});
    head.add({"ranges",
              !options.settings.table.empty() ? "from " + printable(options.settings.table)
                  : options.calib == "none"
                  ? std::string("found at run time")
                  : options.calib + " on " + counted(outcome.examples, "example", "examples")});
    head.add({"int8", counted(outcome.quantized.quantized.size(), "node", "nodes")});
    if (options.settings.correctsBiases)
        head.add({"biases", counted(outcome.correctedBiases, "layer", "layers") + " corrected"});
    head.add({"skipped", counted(outcome.quantized.skipped.size(), "node", "nodes")});
    head.add({"time", seconds.data()});
    print(head.toString() + '\n');
    printSkipped(outcome.quantized.skipped, "stays float32");
    for (const std::string &path : written)
        print("wrote " + printable(path) + '\n');
}

/// What concerns int8 operators says nothing of weights alone.
Result<void> checkWeightsAlone(const QuantizeOptions &options)
{
    const auto isGiven = [](const std::string &text) { return !text.empty(); };
    const std::array<std::pair<const char *, bool>, 6> others{
        {{"--table", isGiven(options.settings.table)},
         {"--for", isGiven(options.runtime)},
         {"--calib", isGiven(options.calib)},
         {"--granularity", isGiven(options.granularity)},
         {"--correct-biases", options.settings.correctsBiases},
         {"--int8-op", !options.settings.options.quantizedOps.empty()}}};
    for (const auto &[option, given] : others)
        if (given)
            return badCall(option, "cannot be combined with --weights",
                           "; quantize weights alone, or operators to int8");
    if (isGiven(options.form) && !policy::weightFormNamed(options.form))
        return badCall("--form", options.form + " is a form of int8 operators", "qdq or nbits");
    return {};
}

/// --exclude and --exclude-op are rules, too.
policy::Policy weightsPolicy(const QuantizeOptions &options)
{
    policy::Policy policy;
    for (const std::string &name : options.settings.options.excludedNames)
        policy.weights.push_back({name, std::nullopt});
    for (const std::string &op : options.settings.options.excludedOps)
        policy.weights.push_back({op, std::nullopt});
    return policy;
}

Json weightsReport(const weights::LoweredModel &lowered, const std::vector<std::string> &written,
                   double seconds)
{
    Json skipped = Json::array();
    for (const quantize::SkippedNode &node : lowered.skipped)
        skipped.push_back({{"name", node.name}, {"op", node.op}, {"why", node.why}});
    Json json = Json::object();
    addWeightsJson(lowered, json);
    json["model_bytes"] = graph::parameterBytes(lowered.model);
    json["skipped"] = std::move(skipped);
    json["notes"] = lowered.notes;
    json["written"] = written;
    json["seconds"] = seconds;
    return json;
}

/// By the data, where there are some.
Result<weights::LoweredModel> loweredWeights(const session::Session &session, const policy::Policy &policy,
                                             const walks::CalibrateOptions &data, const std::stop_token &stop)
{
    const io::LoadedModel &source = session.source();
    const bool hasData = !data.examples.inputs.empty();
    const auto method = policy.weightMethod.value_or(hasData ? policy::WeightMethod::Gptq
                                                             : policy::WeightMethod::LeastSquares);
    if (method != policy::WeightMethod::Gptq)
        return weights::lowerWeights(source.model, weightsOf(policy));
    if (!hasData)
        return badCall("--method", "gptq needs data", "; pass --inputs F.npz|DIR, or choose mse");
    return walks::lowerByGptq(source.model, source.modelPath, weightsOf(policy), data, progress(stop));
}

Result<void> quantizeWeights(QuantizeOptions options, const std::stop_token &stop)
{
    const auto start = std::chrono::steady_clock::now();
    HALFTONE_CHECK(checkWeightsAlone(options));
    HALFTONE_CHECK(options.calibration.take());
    const walks::CalibrateOptions &data = options.calibration.settings;
    HALFTONE_TRY(const io::ModelOutput output,
                 CommandFiles()
                     .reads(options.model)
                     .reads(data.examples, options.model)
                     .claim(options.out, options.model.model));
    HALFTONE_TRY(const session::Session opened, options.model.open(stop));
    HALFTONE_TRY(const session::Session session, opened.inFormatOf(output));
    policy::Policy policy;
    HALFTONE_CHECK(options.weights.apply(policy));
    const policy::Policy excluded = weightsPolicy(options);
    policy.weights.insert(policy.weights.end(), excluded.weights.begin(), excluded.weights.end());
    policy.weightForm = policy::weightFormNamed(options.form);
    auto made = loweredWeights(session, policy, data, stop);
    if (!made.ok())
        return aboutModel(std::move(made).error(), session);
    HALFTONE_TRY(const std::vector<std::string> written, session.write(made.value().model, output));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (options.json) {
        printJson(weightsReport(made.value(), written, seconds.count()));
        return {};
    }
    tellNotes(session.source().modelPath, made.value().notes);
    print(weightsText(made.value()) + '\n');
    printSkipped(made.value().skipped, "stays as it is");
    for (const std::string &path : written)
        print("wrote " + printable(path) + '\n');
    return {};
}

Result<void> quantize(QuantizeOptions options, const std::stop_token &stop)
{
    if (options.weights.isGiven())
        return quantizeWeights(std::move(options), stop);
    if (!options.weights.method.empty())
        return badCall(Field::WeightMethod, "chooses codes of weights", "; pass --weights too");
    HALFTONE_CHECK(takeOptions(options));
    HALFTONE_TRY(const io::ModelOutput output,
                 CommandFiles()
                     .reads(options.model)
                     .reads(options.settings.calibrate.examples, options.model)
                     .reads("--table", options.settings.table)
                     .claim(options.out, options.model.model));
    HALFTONE_TRY(const session::Session opened, options.model.open(stop));
    HALFTONE_TRY(const session::Session session, opened.inFormatOf(output));
    HALFTONE_CHECK(takeForm(options, session.source().model.graph));
    std::vector<policy::Warning> warnings;
    std::vector<std::string> notes;
    HALFTONE_CHECK(takeRuntime(options, session.source().model.graph, notes));
    HALFTONE_CHECK(takeHardware(options, session.source().model.graph, warnings));
    HALFTONE_TRY(walks::QuantizeOutcome outcome, session.quantize(options.settings, progress(stop)));
    std::ranges::move(warnings, std::back_inserter(outcome.quantized.warnings));
    std::ranges::move(notes, std::back_inserter(outcome.quantized.notes));
    const graph::Model &made = outcome.quantized.model;
    HALFTONE_CHECK(session::checkWritten(options.runtime, made.graph));
    HALFTONE_TRY(const std::vector<std::string> written, session.write(made, output));
    tellNotes(session.source().modelPath, outcome.quantized.notes);
    tellWarnings(outcome.quantized.warnings);
    if (options.json)
        printJson(results::quantizationJson(outcome,
                                            {options.form, options.hardware,
                                             options.settings.table.empty() ? options.calib : "table",
                                             options.runtime},
                                            written));
    else
        printSummary(options, outcome, written);
    return {};
}

bool hasQuantizedForms(const dialect::Dialect &dialect)
{
    return dialect.quantizedForms() != nullptr;
}

/// Where weights have one scale by default.
std::string granularityExceptions()
{
    const std::string titles = titlesWith(hasQuantizedForms);
    return titles.empty() ? std::string() : "; " + titles + "'s fully connected layers: tensor";
}

std::string formsHelp()
{
    const std::string inPairs
        = titlesWith([](const dialect::Dialect &one) { return one.codedPairs() != nullptr; });
    const std::string inOperators = titlesWith(hasQuantizedForms);
    std::string help;
    if (!inPairs.empty())
        help = inPairs
            + ": qdq (pairs of QuantizeLinear and DequantizeLinear) or qoperator (integer operators) "
              "(default: qdq)";
    if (!inOperators.empty())
        help += (help.empty() ? "" : ". ") + inOperators + ": onednn (fused) or plain (default: onednn)";
    return help;
}

} // namespace

void addQuantize(Parser &app, Action &chosen)
{
    const auto options = std::make_shared<QuantizeOptions>();
    walks::QuantizeSettings &settings = options->settings;
    Command command = app.command("quantize", "Quantize a model to int8, or its weights alone, and write it");
    options->model.addTo(command);
    command.option("--out", &options->out, "Write " + outputHelp()).type("P").notEmpty().required();
    command.option("--table", &settings.table, "Ranges as written by 'calibrate --out'").type("T.json");
    options->calibration.addTo(command, "--calib");
    const auto choice = [&command](const char *name, std::string &value, std::vector<std::string> values,
                                   const std::string &help) {
        command.option(name, &value, help).oneOf(std::move(values)).type("NAME");
    };
    choice("--calib", options->calib, {"none", "naive", "entropy", "percentile", "mse", "output"},
           "Method for ranges measured on --inputs: none, naive (minmax), entropy, percentile, mse, or "
           "output: mse, but naive for tensors where it gives clearly smaller errors in the next layers "
           "(default: output)");
    choice("--dtype", options->dtype, {"int8", "uint8", "auto"},
           "Type of activations: int8, uint8 or auto (default: auto)");
    choice("--form", options->form, {"onednn", "plain", "qdq", "qoperator", "nbits"},
           "Form of int8 operators. " + formsHelp()
               + ". With --weights: nbits (MatMulNBits) or qdq (DequantizeLinear) (default: nbits where "
                 "there is "
                 "one)");
    options->weights.addTo(command, {false, true});
    choice("--mode", options->mode, {"full", "smart"},
           "Operators to quantize: smart (convolutions, fully connected layers and operators between two of "
           "these) or full (every supported operator) (default: smart)");
    choice("--granularity", options->granularity, {"tensor", "channel"},
           "Scales of weights: per tensor or channel (default: channel" + granularityExceptions() + ')');
    choice("--levels", options->levels, {"mxnet", "neutral"},
           onlyWith(hasQuantizedForms)
               + "code of the largest value: mxnet (127.5 and 255.5) or neutral (127 and 255) "
                 "(default: mxnet)");
    addHardware(command, options->hardware)
        .describe(
            "Quantize only what this chip has int8 units for: a name listed by 'hardware', this, or a file");
    addRuntime(command, options->runtime);
    command.option("--exclude", &settings.options.excludedNames, "Keep a node in float32 (repeatable)")
        .type("NAME");
    command.option("--exclude-op", &settings.options.excludedOps, "Keep an operator in float32 (repeatable)")
        .type("OP");
    command.option("--int8-op", &settings.options.quantizedOps, "Quantize only these operators (repeatable)")
        .type("OP");
    command.flag("--correct-biases", settings.correctsBiases,
                 "Correct the biases of int8 layers for the mean error measured on --inputs");
    command.flag("--json", options->json, "Print the report as JSON");
    command.onChosen([options, &chosen] {
        chosen = [options](const std::stop_token &stop) { return quantize(*options, stop); };
    });
}

} // namespace halftone::cli
