#include "app/cli/commands.h"
#include "app/cli/data_options.h"
#include "app/cli/files.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "core/base/text.h"
#include "core/policy/policy_options.h"
#include "core/results/run_json.h"

#include <array>
#include <cstdio>
#include <memory>

namespace halftone::cli {
namespace {

struct RunOptions
{
    ModelOptions model;
    DataOptions data;
    PrecisionOption precision;
    walks::RunSettings settings; ///< with the data, once they were taken
    std::string outputs = "heads";
    std::string out;
    std::string accumulate;
    std::uint64_t seed = 0;
    bool hasSeed = false;
    bool json = false;
};

std::string percent(double share)
{
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%.2f %%", 100 * share);
    return text.data();
}

void printSummary(const session::Session &session, const walks::RunOutcome &outcome,
                  const RunOptions &options)
{
    std::array<char, 64> time{};
    std::snprintf(time.data(), time.size(), "%.3f s in %s", outcome.seconds,
                  counted(outcome.batches, "batch", "batches").c_str());
    std::string kernels;
    for (const auto &[name, count] : outcome.kernels)
        kernels += (kernels.empty() ? "" : ", ") + name + ' ' + std::to_string(count);
    Table head;
    head.add({"model", printable(session.source().modelPath)});
    head.add({"backend", options.settings.backend});
    head.add({"kernels", printable(kernels)});
    head.add({"time", time.data()});
    if (outcome.accuracy)
        head.add({"accuracy",
                  "top-1 " + percent(outcome.accuracy->top1) + ", top-5 " + percent(outcome.accuracy->top5)
                      + " of " + counted(outcome.accuracy->examples, "example", "examples")});
    if (outcome.task && outcome.task->metric != tasks::Metric::Top1
        && outcome.task->metric != tasks::Metric::Top5)
        head.add({std::string(tasks::titleOf(outcome.task->metric)), taskText(*outcome.task)});
    for (const std::string &note : outcome.notes)
        head.add({"note", printable(note)});
    Table outputs({"output", "shape", "type"});
    for (const io::NamedTensor &output : outcome.outputs)
        outputs.add({printable(output.name), output.tensor.shape().toString(),
                     std::string(tensor::nameOf(output.tensor.dtype()))});
    print(head.toString() + '\n' + outputs.toString());
    if (!options.out.empty())
        print("\nwrote " + printable(options.out) + '\n');
}

Result<void> takeOptions(RunOptions &options)
{
    HALFTONE_CHECK(options.data.take(options.settings));
    options.settings.precision = options.precision.type();
    options.settings.allNodes = options.outputs == "all";
    if (options.hasSeed)
        options.settings.randomParameters = options.seed;
    return {};
}

Result<void> run(RunOptions options, const std::stop_token &stop)
{
    HALFTONE_CHECK(takeOptions(options));
    HALFTONE_CHECK(CommandFiles()
                       .reads(options.model)
                       .reads(options.settings.examples, options.model)
                       .writes("--out", options.out)
                       .check());
    HALFTONE_TRY(options.settings.accumulator, policy::accumulatorNamed(options.accumulate));
    HALFTONE_TRY(const session::Session session, options.model.open(stop));
    HALFTONE_TRY(const walks::RunOutcome outcome, session.run(options.settings, progress(stop)));
    if (!options.out.empty()) {
        auto written = io::writeNpz(outcome.outputs, options.out);
        if (!written.ok())
            return inFile(std::move(written).error(), options.out);
    }
    tellNotes(session.source().modelPath, outcome.notes);
    if (options.json)
        printJson(results::runJson(outcome, options.settings.backend));
    else
        printSummary(session, outcome, options);
    return {};
}

} // namespace

void addRun(Parser &app, Action &chosen)
{
    const auto options = std::make_shared<RunOptions>();
    Command command = app.command("run", "Run a model on arrays or pictures");
    options->model.addTo(command);
    options->data.addTo(command, DataOptions::Labels::Accuracy);
    options->precision.addTo(command);
    command
        .option("--outputs", &options->outputs,
                "Values to return: heads (the outputs) or all (every node) (default: heads)")
        .oneOf({"heads", "all"})
        .type("WHICH");
    command
        .option("--accumulate", &options->accumulate,
                "Accumulator type of 16-bit products, emulated by the reference kernels: float32, float16 or "
                "bfloat16 (default: float32)")
        .type("DTYPE");
    command.option("--out", &options->out, "Write the outputs to this file").type("O.npz").notEmpty();
    command
        .option("--random-params", &options->seed,
                "Draw random values for missing parameters, with this seed")
        .type("SEED");
    command.flag("--json", options->json, "Print the result as JSON");
    command.onChosen([command, options, &chosen] {
        options->hasSeed = command.isGiven("--random-params");
        chosen = [options](const std::stop_token &stop) { return run(*options, stop); };
    });
}

} // namespace halftone::cli
