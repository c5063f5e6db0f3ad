#include "core/rewrite/rewrite.h"

#include "app/cli/commands.h"
#include "app/cli/files.h"
#include "app/cli/format_texts.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "core/base/text.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace halftone::cli {
namespace {

struct RewriteOptions
{
    ModelOptions model;
    std::vector<std::string> passes;
    std::string fp32Params;
    std::string out;
    bool list = false;
    bool json = false;
};

void listPasses(bool json)
{
    Json rows = Json::array();
    Table table({"pass", "effect"});
    for (const rewrite::RewritePass &pass : rewrite::rewritePasses()) {
        rows.push_back({{"name", pass.name}, {"help", pass.help}, {"takes_number", pass.takesNumber}});
        table.add({std::string(pass.name) + (pass.takesNumber ? "=N" : ""), std::string(pass.help)});
    }
    if (json)
        printJson(Json{{"passes", std::move(rows)}});
    else
        print(table.toString());
}

struct ChosenPass
{
    const rewrite::RewritePass *pass = nullptr;
    int number = 0;
};

/// "NAME", or "NAME=N" of a pass that takes a number.
Result<ChosenPass> passNamed(const std::string &text)
{
    const std::size_t sign = text.find('=');
    const std::string name = text.substr(0, sign);
    if (const rewrite::RewritePass *pass = rewrite::findRewritePass(name); pass != nullptr) {
        const auto number = sign == std::string::npos ? std::nullopt
                                                      : parseInteger(std::string_view(text).substr(sign + 1));
        if (pass->takesNumber != number.has_value() || (number && !std::in_range<int>(*number)))
            return badCall("--pass", text, pass->takesNumber ? name + "=N, a whole number" : name);
        return ChosenPass{pass, static_cast<int>(number.value_or(0))};
    }
    std::vector<std::string_view> names;
    for (const rewrite::RewritePass &pass : rewrite::rewritePasses())
        names.push_back(pass.name);
    return badCall("--pass", "unknown pass \"" + name + '"' + didYouMean(nearestNames(name, names)),
                   "one of " + joined(std::vector<std::string>(names.begin(), names.end())));
}

Result<void> rewrite(const RewriteOptions &options, const std::stop_token &stop)
{
    if (options.list) {
        listPasses(options.json);
        return {};
    }
    if (options.model.model.empty() || options.out.empty() || options.passes.empty())
        return badCall("rewrite", "MODEL, --pass or --out is missing",
                       "rewrite MODEL --pass NAME --out P, or rewrite --list");
    if (!options.fp32Params.empty()
        && std::ranges::find(options.passes, "strip-casts") == options.passes.end())
        return badCall("--fp32-params", "only used by strip-casts", "; pass --pass strip-casts too");
    std::vector<ChosenPass> chosen;
    for (const std::string &name : options.passes) {
        HALFTONE_TRY(const ChosenPass pass, passNamed(name));
        chosen.push_back(pass);
    }
    HALFTONE_TRY(const io::ModelOutput output,
                 CommandFiles()
                     .reads(options.model)
                     .reads("--fp32-params", options.fp32Params)
                     .claim(options.out, options.model.model));
    HALFTONE_TRY(session::Session session, options.model.open(stop));
    graph::Model model = session.source().model;
    Json rows = Json::array();
    Table table({"pass", "changed", "ms"});
    std::vector<std::string> notes;
    io::LoadedModel original;
    if (!options.fp32Params.empty()) {
        io::LoadOptions alone;
        alone.takesParametersAlone = true;
        alone.stop = stop;
        HALFTONE_TRY(original, io::loadModel(options.fp32Params, alone));
        HALFTONE_TRY(rewrite::Rewritten restored, session.restoreParameters(model, original, progress(stop)));
        model = std::move(restored.model);
        notes.push_back(counted(restored.changed, "parameter", "parameters") + " taken from "
                        + options.fp32Params);
        notes.insert(notes.end(), restored.notes.begin(), restored.notes.end());
    }
    for (const auto &[pass, number] : chosen) {
        const auto start = std::chrono::steady_clock::now();
        HALFTONE_TRY(rewrite::Rewritten rewritten, session.rewrite(model, *pass, number, progress(stop)));
        const double seconds
            = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        model = std::move(rewritten.model);
        rows.push_back({{"name", pass->name},
                        {"changed", rewritten.changed},
                        {"seconds", seconds},
                        {"notes", rewritten.notes}});
        table.add(
            {std::string(pass->name), std::to_string(rewritten.changed), std::to_string(seconds * 1e3)});
        notes.insert(notes.end(), rewritten.notes.begin(), rewritten.notes.end());
    }
    if (!options.fp32Params.empty()) { // constants that nodes hold say float32 only now
        HALFTONE_TRY(rewrite::Rewritten restored, session.restoreParameters(model, original, progress(stop)));
        model = std::move(restored.model);
        if (restored.changed > 0)
            notes.push_back(counted(restored.changed, "constant", "constants") + " taken from "
                            + options.fp32Params);
    }
    HALFTONE_TRY(const std::vector<std::string> written, session.write(model, output));
    if (options.json) {
        printJson(Json{{"passes", std::move(rows)}, {"nodes", model.graph.nodeCount()}});
        return {};
    }
    tellNotes(session.source().modelPath, session.source().notes);
    tellNotes(session.source().modelPath, notes);
    print(table.toString() + '\n' + counted(model.graph.nodeCount(), "node", "nodes") + '\n');
    for (const std::string &path : written)
        print("wrote " + printable(path) + '\n');
    return {};
}

} // namespace

void addRewrite(Parser &app, Action &chosen)
{
    const auto options = std::make_shared<RewriteOptions>();
    Command command = app.command("rewrite", "Apply graph passes and write the result");
    options->model.addTo(command);
    command.get("MODEL").required(false);
    command
        .option("--pass", &options->passes,
                "Pass to apply, as NAME or NAME=N (repeatable; applied in this order)")
        .type("NAME");
    command
        .option("--fp32-params", &options->fp32Params,
                "With strip-casts: file with the original float32 parameters")
        .type("FILE");
    command.option("--out", &options->out, "Write " + outputHelp()).type("P").notEmpty();
    command.flag("--list", options->list, "List the passes");
    command.flag("--json", options->json, "Print the result as JSON");
    command.onChosen([options, &chosen] {
        chosen = [options](const std::stop_token &stop) { return rewrite(*options, stop); };
    });
}

} // namespace halftone::cli
