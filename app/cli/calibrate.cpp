#include "app/cli/calibration_options.h"
#include "app/cli/commands.h"
#include "app/cli/files.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/shards.h"
#include "core/base/atomic_file.h"
#include "core/base/process_memory.h"
#include "core/base/text.h"
#include "core/report/calibration_json.h"

#include <functional>
#include <memory>

namespace halftone::cli {
namespace {

struct CalibrateOptions
{
    ModelOptions model;
    CalibrationOptions calibration;
    std::string array; ///< .npz
    std::string batches;
    std::string method = "minmax";
    std::string dtype = "int8";
    std::string out;
    std::string grid = "exact";
    std::string memory = "1024";
    ShardOptions shard;
    bool json = false;
};

Result<void> takeOptions(CalibrateOptions &options)
{
    HALFTONE_CHECK(options.calibration.take());
    using calibration::CodeType;
    options.calibration.settings.threshold.codes = options.dtype == "int8" ? CodeType::Int8
        : options.dtype == "uint8"                                         ? CodeType::Uint8
                                                                           : CodeType::Auto;
    options.calibration.settings.threshold.method = *calibration::thresholdMethodNamed(options.method);
    options.calibration.settings.asBatches = options.grid == "first-batch";
    HALFTONE_TRY(options.calibration.settings.memoryLimit, memoryOf(options.memory));
    HALFTONE_CHECK(options.shard.take(options.out));
    options.calibration.settings.shard = options.shard.first;
    if (options.shard.isGiven() && options.calibration.settings.asBatches)
        return badCall("--shard",
                       "cannot be combined with --grid first-batch: its bins depend on the batches",
                       "; use --grid exact");
    if (options.shard.isGiven() && !options.array.empty())
        return badCall("--shard", "cannot be combined with --array");
    return {};
}

std::string share(std::uint64_t part, std::uint64_t whole)
{
    if (part == 0)
        return "0";
    return formatted("%.3g %%", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::vector<std::string> rowOf(const std::string &name, const calibration::TensorStatistics &statistics,
                               const calibration::Threshold &threshold)
{
    const auto decibels = [](const std::optional<double> &value) {
        return value ? formatted("%.1f", *value) : std::string("-");
    };
    const auto &fp16 = statistics.fp16;
    return {printable(name),
            formatted("%.5g", statistics.min),
            formatted("%.5g", statistics.max),
            formatted("%.5g", threshold.value),
            decibels(threshold.sqnrDb),
            decibels(threshold.sqnrDbMinMax),
            formatted("%.5g", statistics.deviation),
            share(fp16.overflow, statistics.count),
            share(fp16.subnormal, statistics.count),
            share(fp16.underflow, statistics.count),
            formatted("%.1f", fp16.sqnrDb),
            formatted("%.1f", statistics.bf16.sqnrDb),
            std::to_string(statistics.nan + statistics.positiveInfinite + statistics.negativeInfinite),
            printable(threshold.note)};
}

const std::vector<std::string> kHeader{"tensor",         "min",          "max",       "threshold",
                                       "int8 dB",        "minmax dB",    "deviation", "fp16 overflow",
                                       "fp16 subnormal", "fp16 to zero", "fp16 dB",   "bf16 dB",
                                       "NaN, Inf",       "note"};

using Sink = std::function<Result<void>(std::string_view)>;

/// `write` gives the table as JSON, in pieces.
Result<void> tell(const std::function<Result<void>(const Sink &)> &write, const Table &table,
                  const CalibrateOptions &options)
{
    if (!options.out.empty()) {
        HALFTONE_TRY(AtomicFile file, AtomicFile::create(options.out));
        HALFTONE_CHECK(write([&file](std::string_view piece) { return file.write(piece); }));
        HALFTONE_CHECK(file.write("\n"));
        HALFTONE_CHECK(file.commit());
    }
    const auto toOutput = [](std::string_view piece) {
        print(piece);
        return Result<void>();
    };
    if (options.json) {
        HALFTONE_CHECK(write(toOutput));
        print("\n");
        return {};
    }
    print(table.toString());
    if (!options.out.empty())
        print("\nwrote " + printable(options.out) + '\n');
    return {};
}

Result<void> calibrateFile(const CalibrateOptions &options, const std::stop_token &stop)
{
    if (!options.model.model.empty())
        return badCall("--array", "cannot be combined with a model", "; pass one of the two");
    HALFTONE_TRY(const std::vector<io::NamedTensor> file, io::readNpz(options.array));
    auto calibrated = calibration::calibrateArrays(file, options.batches,
                                                   options.calibration.settings.threshold, progress(stop));
    if (!calibrated.ok())
        return inFile(std::move(calibrated).error(), options.array);
    Table table(kHeader);
    for (const calibration::CalibratedArray &array : calibrated.value())
        table.add(rowOf(array.name, array.statistics, array.threshold));
    const auto write = [&](const Sink &sink) {
        return sink(report::arraysJson(calibrated.value(), options.calibration.settings.threshold.method));
    };
    return tell(write, table, options);
}

/// What has a say in the statistics and the table, but for model and data.
Json settingsOf(const CalibrateOptions &options)
{
    const walks::CalibrateOptions &settings = options.calibration.settings;
    return {{"command", "calibrate"},    {"backend", settings.backend},
            {"layers", settings.layers}, {"method", options.method},
            {"dtype", options.dtype},    {"percentile", settings.threshold.percentile}};
}

Result<void> writeCalibrationShards(const CalibrateOptions &options, const session::Session &session,
                                    const std::stop_token &stop)
{
    walks::CalibrateOptions settings = options.calibration.settings;
    const io::LoadedModel &source = session.source();
    HALFTONE_TRY(shards::StatisticsOrigin origin,
                 originOf(source.model, source.modelPath, settings.examples, settingsOf(options)));
    walks::ParameterCollectors known;
    return options.shard.forEach([&](const walks::Shard &shard) -> Result<void> {
        settings.shard = shard;
        HALFTONE_TRY(
            walks::CollectedStatistics statistics,
            walks::collectStatistics(source.model, source.modelPath, settings, progress(stop), &known));
        origin.all = statistics.all;
        const std::size_t examples = statistics.examples;
        return writeShard(
            {origin, shard, examples, shards::CalibrationShard{settings.threshold, std::move(statistics)}},
            options.out);
    });
}

Result<void> calibrate(CalibrateOptions options, const std::stop_token &stop)
{
    HALFTONE_CHECK(takeOptions(options));
    HALFTONE_CHECK(CommandFiles()
                       .reads(options.model)
                       .reads(options.calibration.settings.examples, options.model)
                       .reads("--array", options.array)
                       .writes("--out", options.out)
                       .check());
    if (!options.array.empty())
        return calibrateFile(options, stop);
    if (options.model.model.empty() || options.calibration.settings.examples.inputs.empty())
        return badCall("calibrate", "MODEL or --inputs is missing",
                       "calibrate MODEL --inputs F.npz, or calibrate --array F.npz");
    HALFTONE_TRY(const session::Session session, options.model.open(stop));
    const walks::CalibrateOptions &settings = options.calibration.settings;
    if (options.shard.isCount)
        return printMaxShards(session.source(), settings.examples, settings.backend, settings.batch,
                              settings.memoryLimit);
    if (options.shard.isGiven())
        return writeCalibrationShards(options, session, stop);
    HALFTONE_TRY(const walks::CalibrateOutcome outcome, session.calibrate(settings, progress(stop)));
    Table table(kHeader);
    for (const calibration::CalibratedTensor &tensor : outcome.tensors)
        table.add(rowOf(tensor.name, tensor.statistics, tensor.threshold));
    if (!options.json) {
        print("examples  " + std::to_string(outcome.examples) + '\n');
        print("order     "
              + std::string(
                  settings.asBatches
                      ? "one batch after another; the first sets the histogram bins, as in MXNet"
                      : "one by one, one thread each; batch size, order and threads do not affect the result")
              + '\n');
        print("memory    " + humanBytes(peakMemory()) + " peak, of which the model takes "
              + humanBytes(graph::parameterBytes(session.source().model)) + '\n');
        print("time      " + formatted("%.2f s", outcome.seconds) + "\n\n");
    }
    const auto write = [&](const Sink &sink) {
        return report::writeCalibration(outcome.tensors, options.calibration.settings.threshold.method,
                                        outcome.examples, outcome.seconds, sink);
    };
    return tell(write, table, options);
}

} // namespace

void addCalibrate(Parser &app, Action &chosen)
{
    const auto options = std::make_shared<CalibrateOptions>();
    Command command
        = app.command("calibrate", "Collect statistics and thresholds of a model's tensors, or of arrays");
    options->model.addTo(command);
    command.get("MODEL").required(false);
    options->calibration.addTo(command, "--method");
    command
        .option("--layers", &options->calibration.settings.layers,
                "Only tensors whose name matches (repeatable)")
        .type("PATTERN");
    command.option("--array", &options->array, "Calibrate these arrays instead of a model").type("F.npz");
    command
        .option("--batches", &options->batches,
                "With --array: treat PREFIX0, PREFIX1, … as batches of one tensor")
        .type("PREFIX");
    command
        .option("--method", &options->method,
                "Threshold method: minmax, entropy, percentile or mse (default: minmax)")
        .oneOf({"minmax", "entropy", "percentile", "mse"})
        .type("METHOD");
    command.option("--dtype", &options->dtype, "Quantized type: int8, uint8 or auto (default: int8)")
        .oneOf({"int8", "uint8", "auto"})
        .type("DTYPE");
    command.option("--out", &options->out, "Write the calibration table as JSON").type("T.json").notEmpty();
    command
        .option("--grid", &options->grid,
                "Histogram bins: exact, independent of the batch size, or first-batch, as MXNet sets them "
                "(default: exact)")
        .oneOf({"exact", "first-batch"})
        .type("GRID");
    command
        .option("--memory", &options->memory,
                "Memory limit for intermediate tensors and packed weights, e.g. 512MiB or 2GiB (default: "
                "1024 MiB)")
        .type("SIZE");
    options->shard.addTo(command);
    options->shard.addCountTo(command);
    command.flag("--json", options->json, "Print the table as JSON");
    command.onChosen([options, &chosen] {
        chosen = [options](const std::stop_token &stop) { return calibrate(*options, stop); };
    });
}

} // namespace halftone::cli
