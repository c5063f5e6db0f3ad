#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/weights_info.h"
#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/results/described_info.h"
#include "core/results/info_json.h"

#include <algorithm>
#include <map>

namespace halftone::cli {
namespace {

using graph::NodeId;

std::string parametersLine(std::span<const tensor::Array> arrays)
{
    const results::ParameterFacts facts = results::parameterFacts(arrays);
    std::vector<std::string> types;
    for (const auto &[type, count] : facts.dtypes)
        types.push_back(facts.dtypes.size() == 1 ? type : type + " " + std::to_string(count));
    return withThousands(facts.elements) + " values in " + counted(facts.count, "array", "arrays") + ", "
        + humanBytes(facts.bytes) + (types.empty() ? "" : ", " + joined(types));
}

void printInfo(const results::ModelFacts &facts)
{
    const graph::Graph &graph = facts.graph();
    Table head;
    head.add({"model", printable(facts.loaded.modelPath)});
    head.add(
        {"parameters",
         facts.loaded.model.hasParameters ? parametersLine(facts.loaded.model.parameters) : "not loaded"});
    if (const auto held = results::heldInBodies(graph); !held.empty())
        head.add({"in bodies", parametersLine(held)});
    for (const std::string &line : weightLines(facts.loaded.model))
        head.add({"weights", line});
    head.add({"nodes", withThousands(graph.nodeCount())});
    std::vector<std::string> units;
    const Json counts = results::unitsJson(facts.loaded.model);
    for (const auto &[title, count] : counts.items())
        units.push_back(std::to_string(count.get<std::size_t>()) + " " + title);
    if (!units.empty())
        head.add({"units", joined(units)});
    print(head.toString());

    Table tensors({"", "name", "shape", "dtype"});
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.isVariable(id) && facts.variables[id].isData)
            tensors.add({"input", printable(graph.node(id).name), facts.shapes.byNode[id].front().toString(),
                         std::string(tensor::nameOf(facts.variables[id].type))});
    }
    for (const graph::Entry &entry : graph.heads())
        tensors.add({"output", printable(dialect::of(graph).entryName(graph, entry)),
                     facts.shapes.of(entry).toString(), ""});
    print('\n' + tensors.toString());

    std::vector<std::pair<std::size_t, std::string>> byCount;
    for (const auto &[op, count] : facts.operators)
        byCount.emplace_back(count, op);
    std::ranges::sort(byCount, [](const auto &a, const auto &b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    Table operators({"operator", "nodes"});
    for (const auto &[count, op] : byCount)
        operators.add({printable(op), withThousands(count)});
    print('\n' + operators.toString());
}

void printArrays(const io::LoadedModel &loaded)
{
    const auto &arrays = loaded.model.parameters;
    print(printable(loaded.paramsPath) + ": " + parametersLine(arrays) + "\n\n");
    Table table({"name", "shape", "dtype", "storage"});
    for (std::size_t k = 0; k < arrays.size(); ++k)
        table.add({arrays[k].name.empty() ? std::to_string(k) : printable(arrays[k].name),
                   arrays[k].shape.toString(), std::string(tensor::nameOf(arrays[k].values.dtype())),
                   std::string(results::nameOf(arrays[k].storage))});
    print(table.toString());
}

Result<void> info(const ModelOptions &options, bool json, const std::stop_token &stop)
{
    HALFTONE_TRY(const session::Session session, options.open(stop, true));
    const io::LoadedModel &loaded = session.source();
    if (loaded.modelPath.empty()) { // a bare parameter file
        if (json)
            printJson(results::parameterFileJson(loaded));
        else
            printArrays(loaded);
        return {};
    }
    HALFTONE_TRY(const results::ModelFacts facts, results::modelFacts(session));
    if (json) {
        printJson(results::infoJson(facts));
        return {};
    }
    tellNotes(loaded.modelPath, facts.notes);
    printInfo(facts);
    return {};
}

} // namespace

void addInfo(Parser &app, Action &chosen)
{
    struct InfoOptions
    {
        ModelOptions model;
        bool json = false;
    };
    const auto options = std::make_shared<InfoOptions>();
    Command command = app.command("info", "Show what a model or parameter file contains");
    options->model.addTo(command);
    command.flag("--json", options->json, "Print the result as JSON");
    command.onChosen([options, &chosen] {
        chosen = [options](const std::stop_token &stop) { return info(options->model, options->json, stop); };
    });
}

} // namespace halftone::cli
