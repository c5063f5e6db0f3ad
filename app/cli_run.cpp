#include "app/cli_commands.h"
#include "app/cli_options.h"
#include "app/cli_output.h"
#include "core/base/text.h"

#include <array>
#include <cstdio>
#include <memory>

namespace halftone::cli {
namespace {

struct Options
{
    ModelOptions model;
    session::RunSettings settings;
    std::string outputs = "heads";
    std::string out;
    std::int64_t examples = 0;
    std::int64_t batch = 0;
    std::int64_t threads = 0;
    std::uint64_t seed = 0;
    bool hasSeed = false;
    bool json = false;
};

Json jsonOf(const session::RunOutcome &outcome, const Options &options)
{
    Json outputs = Json::array();
    for (const io::NamedTensor &output : outcome.outputs) {
        Json shape = Json::array();
        for (const std::int64_t dim : output.tensor.shape().dims())
            shape.push_back(dim);
        outputs.push_back({{"name", output.name},
                           {"shape", std::move(shape)},
                           {"dtype", tensor::nameOf(output.tensor.dtype())}});
    }
    Json kernels = Json::object();
    for (const auto &[name, count] : outcome.kernels)
        kernels[name] = count;
    Json accuracy;
    if (outcome.accuracy)
        accuracy = {{"top1", outcome.accuracy->top1},
                    {"top5", outcome.accuracy->top5},
                    {"examples", outcome.accuracy->examples}};
    return {{"backend", options.settings.backend}, {"seconds", outcome.seconds},
            {"batches", outcome.batches},          {"kernels", std::move(kernels)},
            {"outputs", std::move(outputs)},       {"accuracy", std::move(accuracy)}};
}

std::string percent(double share)
{
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%.2f %%", 100 * share);
    return text.data();
}

void printSummary(const session::Session &session, const session::RunOutcome &outcome, const Options &options)
{
    std::array<char, 64> time{};
    std::snprintf(time.data(), time.size(), "%.3f s in %s", outcome.seconds,
                  counted(outcome.batches, "batch", "batches").c_str());
    std::string kernels;
    for (const auto &[name, count] : outcome.kernels)
        kernels += (kernels.empty() ? "" : ", ") + name + ' ' + std::to_string(count);
    Table head;
    head.add({"model", printable(session.source().symbolPath)});
    head.add({"backend", options.settings.backend});
    head.add({"kernels", printable(kernels)});
    head.add({"time", time.data()});
    if (outcome.accuracy)
        head.add({"accuracy",
                  "top-1 " + percent(outcome.accuracy->top1) + ", top-5 " + percent(outcome.accuracy->top5)
                      + " of " + counted(outcome.accuracy->examples, "example", "examples")});
    Table outputs({"output", "shape", "type"});
    for (const io::NamedTensor &output : outcome.outputs)
        outputs.add({printable(output.name), output.tensor.shape().toString(),
                     std::string(tensor::nameOf(output.tensor.dtype()))});
    print(head.toString() + '\n' + outputs.toString());
    if (!options.out.empty())
        print("\nwrote " + printable(options.out) + '\n');
}

Result<void> takeNumbers(Options &options)
{
    const std::pair<std::string_view, std::int64_t> counts[]
        = {{"--examples", options.examples}, {"--batch", options.batch}, {"--threads", options.threads}};
    for (const auto &[name, count] : counts) {
        if (count < 0 || count > (std::int64_t{1} << 30))
            return badCall(std::string(name), std::to_string(count), "a positive number");
    }
    options.settings.examples.examples = static_cast<std::size_t>(options.examples);
    options.settings.batch = static_cast<std::size_t>(options.batch);
    options.settings.threads = static_cast<unsigned>(std::min<std::int64_t>(options.threads, 1024));
    options.settings.allNodes = options.outputs == "all";
    if (options.hasSeed)
        options.settings.randomParameters = options.seed;
    return {};
}

Result<void> run(Options options, const std::stop_token &stop)
{
    HALFTONE_CHECK(takeNumbers(options));
    HALFTONE_TRY(const session::Session session, options.model.open());
    HALFTONE_TRY(const session::RunOutcome outcome, session.run(options.settings, progress(stop)));
    if (!options.out.empty()) {
        auto written = io::writeNpz(outcome.outputs, options.out);
        if (!written.ok())
            return inFile(std::move(written).error(), options.out);
    }
    if (options.json)
        printJson(jsonOf(outcome, options));
    else
        printSummary(session, outcome, options);
    return {};
}

} // namespace

void addRun(CLI::App &app, Action &chosen)
{
    const auto options = std::make_shared<Options>();
    session::RunSettings &settings = options->settings;
    CLI::App *command = app.add_subcommand("run", "Run a model on arrays or pictures");
    options->model.addTo(*command);
    command->add_option("--inputs", settings.examples.inputs, "Arrays by input name, or a folder of pictures")
        ->type_name("F.npz|DIR")
        ->required();
    command
        ->add_option("--preprocess", settings.examples.preprocess,
                     "How pictures become inputs; default: preprocess.json beside the model")
        ->type_name("FILE.json");
    command->add_option("--labels", settings.examples.labels, "The right classes: adds the accuracy")
        ->type_name("FILE.csv|.npz");
    command->add_option("--examples", options->examples, "Only the first N")->type_name("N");
    command->add_option("--batch", options->batch, "N examples at a time")->type_name("N");
    command->add_option("--outputs", options->outputs, "heads, or all: every node's value")
        ->check(CLI::IsMember({"heads", "all"}))
        ->type_name("WHICH");
    command->add_option("--out", options->out, "Write the outputs")->type_name("O.npz");
    command->add_option("--backend", settings.backend, "cpu (default), reference or cuda")->type_name("NAME");
    command->add_option("--threads", options->threads, "Default: as many as the machine has")->type_name("N");
    command->add_option("--random-params", options->seed, "Draw the parameters that the model lacks")
        ->type_name("SEED");
    command->add_flag("--json", options->json, "Print the outcome as JSON");
    command->callback([command, options, &chosen] {
        options->hasSeed = command->count("--random-params") > 0;
        chosen = [options](const std::stop_token &stop) { return run(*options, stop); };
    });
}

} // namespace halftone::cli
