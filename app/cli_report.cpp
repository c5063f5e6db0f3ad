#include "app/cli_commands.h"
#include "app/cli_options.h"
#include "app/cli_output.h"
#include "core/base/atomic_file.h"
#include "core/base/text.h"
#include "core/session/report_data.h"

#include <memory>

namespace halftone::cli {
namespace {

struct Options
{
    std::string model; ///< or a session
    std::string params;
    std::string out;
    std::string policy;
    std::string target;
    std::string inputs;
    std::string preprocess;
    std::string labels;
    std::size_t examples = 0;
    unsigned threads = 0;
    bool latency = false;
    bool json = false;
};

Result<void> report(const Options &options, const std::stop_token &stop)
{
    session::ReportRequest request;
    request.path = options.model;
    request.params = options.params;
    request.policyPath = options.policy;
    request.target = options.target;
    request.threads = options.threads;
    request.latency = options.latency;
    if (!options.inputs.empty())
        request.data
            = session::ExampleOptions{options.inputs, options.preprocess, options.labels, options.examples};
    HALFTONE_TRY(const std::string page, session::makeReport(request, progress(stop)));
    HALFTONE_TRY(AtomicFile file, AtomicFile::create(options.out));
    HALFTONE_CHECK(file.write(page));
    HALFTONE_CHECK(file.commit());
    if (options.json)
        printJson({{"written", {options.out}}, {"bytes", page.size()}});
    else
        print("wrote " + printable(options.out) + '\n');
    return {};
}

} // namespace

void addReport(CLI::App &app, Action &chosen)
{
    const auto options = std::make_shared<Options>();
    CLI::App *command
        = app.add_subcommand("report", "A self-contained HTML page: graph picture, lists, layers, plots");
    command->add_option("MODEL", options->model, "P-symbol.json or a .halftone session")->required();
    command->add_option("--params", options->params, "The parameter file, or none")->type_name("FILE");
    command->add_option("--out", options->out, "The page to write")->type_name("R.html")->required();
    command->add_option("--policy", options->policy, "A policy file")->type_name("FILE");
    command->add_option("--target", options->target, "float16 or bfloat16")->type_name("DTYPE");
    command->add_option("--inputs", options->inputs, "Data to compare with: an .npz or a folder of pictures")
        ->type_name("DATA");
    command->add_option("--preprocess", options->preprocess, "For pictures")->type_name("FILE");
    command->add_option("--labels", options->labels, "Labels of the data")->type_name("FILE");
    command->add_option("--examples", options->examples, "The first so many")->type_name("N");
    command->add_option("--threads", options->threads, "Default: all")->type_name("N");
    command->add_flag("--latency", options->latency, "Measure both networks too");
    command->add_flag("--json", options->json, "One JSON document on standard output");
    command->callback([options, &chosen] {
        chosen = [options](const std::stop_token &stop) { return report(*options, stop); };
    });
}

} // namespace halftone::cli
