#include "app/cli/commands.h"
#include "app/cli/data_options.h"
#include "app/cli/fields.h"
#include "app/cli/files.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "core/api/halftone/version.h"
#include "core/base/atomic_file.h"
#include "core/base/text.h"
#include "core/session/export.h"
#include "core/session/report_data.h"

#include <memory>

namespace halftone::cli {
namespace {

struct ReportOptions
{
    std::string model; ///< or a session
    std::string params;
    std::string out;
    std::string policy;
    std::string target;
    std::string hardware;
    std::string inputs;
    std::string preprocess;
    std::string labels;
    std::string front;
    TaskOptions task;
    std::size_t examples = 0;
    unsigned threads = 0;
    std::string arithmetic = "defined";
    bool latency = false;
    bool json = false;
};

Result<void> report(const ReportOptions &options, const std::stop_token &stop)
{
    session::ReportRequest request;
    request.path = options.model;
    request.params = options.params;
    request.policyPath = options.policy;
    request.target = options.target;
    request.hardware = options.hardware;
    request.threads = options.threads;
    request.latency = options.latency;
    request.front = options.front;
    request.made = session::madeLine(HALFTONE_VERSION);
    request.arithmetic = arithmeticNamed(options.arithmetic);
    if (!options.inputs.empty())
        request.data
            = options.task.applied({options.inputs, options.preprocess, options.labels, options.examples});
    HALFTONE_TRY(const std::vector<walks::FieldFile> reads, session::reportFiles(request));
    HALFTONE_CHECK(CommandFiles().reads(namedFiles(reads)).writes("--out", options.out).check());
    HALFTONE_TRY(const std::string page, session::makeReport(request, progress(stop)));
    HALFTONE_CHECK(writeWhole(options.out, page));
    if (options.json)
        printJson({{"written", {options.out}}, {"bytes", page.size()}});
    else
        print("wrote " + printable(options.out) + '\n');
    return {};
}

} // namespace

void addReport(Parser &app, Action &chosen)
{
    const auto options = std::make_shared<ReportOptions>();
    Command command
        = app.command("report", "Write a self-contained HTML page with the graph, lists, layers and plots");
    command.option("MODEL", &options->model, io::modelPlaceholders() + " or a .halftone session")
        .type("")
        .required();
    command.option("--params", &options->params, io::parameterFileHelp()).type("FILE");
    command.option("--out", &options->out, "Page to write").type("R.html").notEmpty().required();
    command.option("--policy", &options->policy, "Policy file").type("FILE");
    command.option("--target", &options->target, "Target type: float16 or bfloat16 (default: float16)")
        .type("DTYPE");
    addHardware(command, options->hardware);
    command.option("--inputs", &options->inputs, "Data to compare on: an .npz file or a folder of pictures")
        .type("DATA");
    command
        .option("--preprocess", &options->preprocess,
                "Preprocessing of pictures (default: preprocess.json beside the model)")
        .type("FILE");
    command.option("--labels", &options->labels, "Labels of the data").type("FILE");
    options->task.addTo(command);
    command.option("--examples", &options->examples, "Use only the first N examples").type("N").positive();
    command.option("--threads", &options->threads, "Number of worker threads (default: one per core)")
        .type("N");
    addArithmetic(command, options->arithmetic);
    command.option("--front", &options->front, "Add the front written by 'tune --out'").type("FRONT.json");
    command.flag("--latency", options->latency, "Also measure the latency of both models");
    command.flag("--json", options->json, "Print the result as JSON");
    command.onChosen([options, &chosen] {
        chosen = [options](const std::stop_token &stop) { return report(*options, stop); };
    });
}

} // namespace halftone::cli
