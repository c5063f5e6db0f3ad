#include "app/cli/calibration_options.h"
#include "app/cli/commands.h"
#include "app/cli/files.h"
#include "app/cli/format_texts.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/weight_options.h"
#include "core/base/atomic_file.h"
#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/dialect/held_reals.h"
#include "core/report/conversion_json.h"
#include "core/rewrite/nested_conversions.h"
#include "core/session/for_runtime.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>

namespace halftone::cli {
namespace {

using mixed::ConvertedModel;

struct ConvertOptions
{
    ModelOptions model;
    PolicyOptions policy;
    CalibrationOptions calibration; ///< for int8 operators
    RangeOptions ranges;
    WeightOptions weights;
    std::string out;
    std::string report;
    std::string runtime; ///< that the result is for; empty: any
    std::uint32_t opset = 0; ///< of the result, at least; 0: as it must be
    bool hasExternalData = false;
    bool correctsBiases = false;
    bool json = false;
};

/// "Convolution 5, BatchNorm 5, …" for each resulting precision, the most frequent operator first.
std::string operatorsByPrecision(const graph::Graph &source, const ConvertedModel &converted)
{
    std::map<std::string, std::map<std::string, std::size_t>> counts;
    for (auto &[type, operators] : rewrite::operatorsByPrecision(source, converted.conversion))
        counts[std::string(tensor::nameOf(type))] = operators;
    Table table({"precision", "operators", ""});
    for (const auto &[precision, ops] : counts) {
        std::vector<std::pair<std::size_t, std::string>> byCount;
        std::size_t total = 0;
        for (const auto &[op, count] : ops) {
            byCount.emplace_back(count, op);
            total += count;
        }
        std::ranges::sort(byCount, std::greater());
        std::vector<std::string> texts;
        texts.reserve(byCount.size());
        for (const auto &[count, op] : byCount)
            texts.push_back(printable(op) + ' ' + std::to_string(count));
        table.add({precision, std::to_string(total), joined(texts, 6)});
    }
    return table.toString();
}

std::string castsLine(const ConvertedModel &converted)
{
    const rewrite::CastCounts counts = rewrite::castTotals(converted.conversion);
    std::string text = counted(counts.casts, "cast", "casts");
    text += " inserted";
    if (counts.shared > 0)
        text += ", shared by " + counted(counts.shared, "more reader", "more readers");
    if (counts.multicasts > 0)
        text += "; " + counted(counts.multicasts, "multicast", "multicasts");
    if (counts.quantizes + counts.dequantizes > 0)
        text += "; " + counted(counts.quantizes, "quantization", "quantizations") + " to int8, "
            + std::to_string(counts.dequantizes) + " back";
    if (const std::size_t inBodies = counts.casts - converted.conversion.castCounts().casts; inBodies > 0)
        text += "; " + std::to_string(inBodies) + " of the casts in control flow bodies";
    return text;
}

void printSummary(const session::Session &session, const ConvertedModel &converted,
                  const std::optional<std::size_t> &correctedBiases, const std::vector<std::string> &written)
{
    Table head;
    head.add({"model", printable(session.source().modelPath)});
    head.add({"target", std::string(tensor::nameOf(converted.policy.target))});
    head.add({"casts", castsLine(converted)});
    const rewrite::Conversion &conversion = converted.conversion;
    if (!conversion.foldedCasts.empty())
        head.add(
            {"", counted(conversion.foldedCasts.size(), "existing cast", "existing casts") + " removed"});
    if (!conversion.moved.empty())
        head.add({"", "moved past " + counted(conversion.moved.size(), "operator", "operators")});
    if (!conversion.choices.empty())
        head.add({"free choice",
                  counted(conversion.choices.size(), "operator", "operators")
                      + " could compute in either type; --json lists the cost of the other choice"});
    if (!conversion.merged.empty())
        head.add(
            {"merged",
             counted(conversion.merged.size(), "node", "nodes") + " computing the same value as another"});
    const auto storedOtherwise = std::ranges::count_if(
        converted.parameters, [](const auto &change) { return change.from != change.to; });
    head.add({"parameters",
              converted.model.hasParameters ? std::to_string(storedOtherwise) + " of "
                      + std::to_string(converted.model.parameters.size()
                                       + dialect::heldReals(session.source().model.graph).size())
                      + " stored in a different type"
                                            : "not loaded"});
    if (correctedBiases)
        head.add({"biases", counted(*correctedBiases, "layer", "layers") + " corrected"});
    std::array<char, 32> milliseconds{};
    std::snprintf(milliseconds.data(), milliseconds.size(), "%.2f ms", converted.seconds * 1e3);
    head.add({"time", milliseconds.data()});
    print(head.toString() + '\n' + operatorsByPrecision(session.source().model.graph, converted) + '\n');
    for (const std::string &path : written)
        print("wrote " + printable(path) + '\n');
}

/// An opset that no program has is as wrong as the largest number.
int wanted(std::uint32_t opset)
{
    return static_cast<int>(std::min<std::uint32_t>(opset, std::numeric_limits<int>::max()));
}

/// What was done where nothing says what to convert to.
std::string copiedText(bool isOfOtherFormat, const std::optional<dialect::Raised> &raised)
{
    const std::string done = raised ? "raised to " + std::string(dialect::of(raised->graph).version())
        : isOfOtherFormat           ? std::string("written in the other format")
                                    : std::string("copied unchanged");
    return done + "; types are unchanged. To convert, pass --target, --policy or another policy option";
}

/// Nothing where the policy says nothing of weights.
using StoredWeights = std::optional<weights::LoweredModel>;

/// A model of the session with its weights as codes, chosen by the values that they had when it was opened.
Result<StoredWeights> storedWeights(const graph::Model &model, const session::Session &session,
                                    const policy::Policy &policy)
{
    if (policy.weights.empty())
        return StoredWeights();
    auto lowered = weights::lowerWeights(model, weightsOf(policy), &session.source().model);
    if (!lowered.ok())
        return aboutModel(std::move(lowered).error(), session);
    return StoredWeights(std::move(lowered).value());
}

/// The report of a conversion with what became of the weights.
std::string withWeights(std::string report, const StoredWeights &weights)
{
    if (!weights)
        return report;
    Json json = parseOrdered(report);
    addWeightsJson(*weights, json);
    return jsonText(json, 2);
}

/// A model that nothing is asked of is written as it was read, or as the same in another format.
Result<void> writeAsRead(session::Session &session, const io::ModelOutput &output,
                         const ConvertOptions &options)
{
    const bool isOfOtherFormat = io::formatOf(session.source().model.graph) != &output.format();
    if (!isOfOtherFormat && !options.policy.inputs.empty())
        return badCall("--input", "a model that is copied keeps the types of its inputs",
                       "; to convert it, pass --target, --policy or another policy option");
    HALFTONE_TRY(policy::Policy policy, options.policy.read(session)); // types and shapes of inputs
    HALFTONE_CHECK(options.weights.apply(policy));
    const int opset = wanted(options.opset);
    graph::Model model = session.source().model;
    HALFTONE_TRY(auto raised, dialect::of(model.graph).raised(model.graph, tensor::DType::Unknown, opset));
    if (raised)
        model.graph = raised->graph;
    HALFTONE_TRY(const StoredWeights weights, storedWeights(model, session, policy));
    HALFTONE_TRY(const std::vector<std::string> written,
                 session.write(weights ? weights->model : model, output, policy.inputDtypes));
    if (options.json) {
        Json json{{"written", written}, {"copied", !weights},     {"target", nullptr},
                  {"casts", 0},         {"nodes", Json::array()}, {"params", Json::array()}};
        if (weights)
            addWeightsJson(*weights, json);
        printJson(json);
        return {};
    }
    if (weights) {
        tellNotes(session.source().modelPath, weights->notes);
        print(weightsText(*weights) + '\n');
    }
    for (const std::string &path : written)
        print("wrote " + printable(path) + '\n');
    if (weights)
        return {};
    print(copiedText(isOfOtherFormat, raised) + '\n');
    return {};
}

/// Is a model that no policy is given for written as it is?
bool isCopied(const graph::Graph &source, const io::ModelOutput &output)
{
    const io::ModelFormat *const format = io::formatOf(source);
    return output.format().isCopiedByDefault || (format != nullptr && format->isCopiedByDefault);
}

/// What the runtime has no kernel for stays in float32.
Result<std::vector<session::LeftNode>> keepToRuntime(const ConvertOptions &options,
                                                     const session::Session &session, policy::Policy &policy,
                                                     std::vector<std::string> &notes)
{
    if (options.runtime.empty())
        return std::vector<session::LeftNode>();
    const graph::Model &model = session.source().model;
    HALFTONE_TRY(const runtimes::KernelTable *const table, session::runtimeFor(options.runtime, model.graph));
    if (std::string note = session::documentedNote(*table); !note.empty())
        notes.push_back(std::move(note));
    if (wanted(options.opset) > table->opset)
        return badCall("--opset", std::to_string(options.opset),
                       table->titleAndVersion() + " reads up to " + std::to_string(table->opset));
    return session::fitPolicy(*table, model, policy);
}

/// As "for" of the report.
void addLeft(std::string &report, const std::string &runtime, const std::vector<session::LeftNode> &left)
{
    Json nodes = Json::array();
    for (const session::LeftNode &node : left)
        nodes.push_back({{"name", node.name}, {"op", node.op}, {"why", node.why}});
    Json json = parseOrdered(report);
    json["for"] = {{"runtime", runtime}, {"left", std::move(nodes)}};
    report = jsonText(json);
}

/// One row for each operator.
void printLeft(const std::vector<session::LeftNode> &left)
{
    if (left.empty())
        return;
    std::map<std::pair<std::string, std::string>, std::size_t> counts;
    for (const session::LeftNode &node : left)
        ++counts[{node.op, node.why}];
    Table table({"stays float32", "operators", "why"});
    for (const auto &[what, count] : counts)
        table.add({printable(what.first), std::to_string(count), printable(what.second)});
    print('\n' + table.toString());
}

Result<void> convert(ConvertOptions options, const std::stop_token &stop)
{
    HALFTONE_CHECK(options.calibration.take());
    const std::string &data = options.calibration.settings.examples.inputs;
    if (data.ends_with(".npz"))
        options.policy.example = data; // its types and shapes as well
    HALFTONE_TRY(io::ModelOutput output,
                 CommandFiles()
                     .reads(options.model)
                     .reads(options.calibration.settings.examples, options.model)
                     .reads("--policy", options.policy.file)
                     .reads("--table", options.ranges.table)
                     .writes("--report", options.report)
                     .claim(options.out, options.model.model));
    if (options.hasExternalData)
        output.separateValues();
    HALFTONE_TRY(session::Session session, options.model.open(stop));
    if (!options.runtime.empty()) {
        HALFTONE_TRY(session, session.inFormatOf(output));
    }
    if (options.policy.isEmpty() && options.runtime.empty() && isCopied(session.source().model.graph, output))
        return writeAsRead(session, output, options);
    HALFTONE_TRY(policy::Policy policy, options.policy.read(session));
    options.ranges.apply(policy);
    HALFTONE_CHECK(options.weights.apply(policy));
    if (!walks::asksForInt8(policy) && !data.empty() && options.policy.example.empty())
        return badCall("--inputs", "a folder of pictures only serves to calibrate int8 operators",
                       "; pass an .npz file, or select int8 operators with --int8-op");
    if (options.correctsBiases && (!walks::asksForInt8(policy) || data.empty()))
        return badCall("--correct-biases",
                       data.empty() ? "needs data to measure errors on" : "no operator is in int8",
                       data.empty() ? "; pass --inputs" : "; select int8 operators with --int8-op");
    std::vector<std::string> notes = session.source().notes;
    HALFTONE_TRY(const std::vector<session::LeftNode> left, keepToRuntime(options, session, policy, notes));
    HALFTONE_TRY(const infer::ShapeMap shapes, session.shapes(notes));
    session::DeriveRequest request{session.source().model, session.source().modelPath, policy, &shapes};
    request.strict = options.policy.strict;
    request.storesWeights = true;
    request.opset = wanted(options.opset);
    request.ranges.table = options.ranges.table;
    request.ranges.calibrate = options.calibration.settings;
    if (options.correctsBiases)
        request.correction = options.calibration.settings;
    const auto derived = session.derive(request, progress(stop));
    if (!derived.ok())
        return options.policy.located(derived.error());
    const ConvertedModel &converted = *derived.value().converted;
    notes.insert(notes.end(), derived.value().notes.begin(), derived.value().notes.end());
    HALFTONE_CHECK(session::checkWritten(options.runtime, converted.model.graph));
    HALFTONE_TRY(const StoredWeights weights, storedWeights(converted.model, session, policy));
    HALFTONE_TRY(const std::vector<std::string> written,
                 session.write(weights ? weights->model : converted.model, output, policy.inputDtypes));
    if (weights)
        notes.insert(notes.end(), weights->notes.begin(), weights->notes.end());
    const bool wantsReport = options.json || !options.report.empty();
    std::string report = wantsReport
        ? withWeights(report::conversionJson(session.source().model.graph, converted, &shapes), weights)
        : std::string();
    if (wantsReport && !options.runtime.empty())
        addLeft(report, options.runtime, left);
    if (!options.report.empty())
        HALFTONE_CHECK(writeWhole(options.report, report + "\n"));
    if (!options.json)
        tellNotes(session.source().modelPath, notes);
    tellWarnings(converted.warnings);
    if (options.json) {
        print(report); // which may be long: not copied for its last line
        print("\n");
    } else {
        printSummary(session, converted,
                     options.correctsBiases ? std::optional(derived.value().correctedBiases) : std::nullopt,
                     written);
        if (weights)
            print('\n' + weightsText(*weights));
        printLeft(left);
    }
    return {};
}

std::string valuesApartHelp()
{
    std::string titles, files;
    for (const io::ModelFormat *const format : io::formats()) {
        if (!format->mayHaveSeparateValues)
            continue;
        titles.append(titles.empty() ? "" : ", ").append(format->title);
        files.append(files.empty() ? "" : " or ").append(format->outputNames("P").values);
    }
    return titles + " only: always store weights in " + files;
}

/// Of the formats whose models are not converted by default.
std::string copiedHelp()
{
    std::string titles;
    for (const io::ModelFormat *const format : io::formats()) {
        if (format->isCopiedByDefault)
            titles.append(titles.empty() ? "" : " or ").append(format->model);
    }
    if (titles.empty())
        return titles;
    titles[0] = 'A';
    return ". " + titles + " is copied unchanged if neither this nor another policy option is given";
}

} // namespace

void addConvert(Parser &app, Action &chosen)
{
    const auto options = std::make_shared<ConvertOptions>();
    Command command = app.command("convert", "Convert a model to mixed precision and write it");
    options->model.addTo(command);
    options->policy.addTo(command);
    command.get("--target")
        .describe("float16 (fp16, half) or bfloat16 (bf16) (default: float16)" + copiedHelp());
    command.remove("--inputs"); // more than an example here
    options->calibration.addTo(command, "--calib");
    options->ranges.addTo(command);
    options->weights.addTo(command, {true, false});
    command.get("--inputs")
        .describe("Arrays that set the types and shapes of the inputs and the ranges of int8 operators; a "
                  "folder of "
                  "pictures sets the ranges only");
    command
        .option("--opset", &options->opset,
                onlyWith([](const dialect::Dialect &one) { return one.versionNumber() > 0; })
                    + "minimum opset of the output (default: the model's, raised if bfloat16 requires it)")
        .type("N");
    addRuntime(command, options->runtime);
    command.flag("--external-data", options->hasExternalData, valuesApartHelp());
    command.option("--out", &options->out, "Write " + outputHelp()).type("P").notEmpty().required();
    command.flag("--correct-biases", options->correctsBiases,
                 "Correct the biases of int8 layers for the mean error measured on --inputs");
    command.option("--report", &options->report, "Also write the report as a JSON file")
        .type("FILE")
        .notEmpty();
    command.flag("--json", options->json, "Print the report as JSON");
    command.onChosen([options, &chosen] {
        chosen = [options](const std::stop_token &stop) { return convert(*options, stop); };
    });
}

} // namespace halftone::cli
