#include "app/cli/commands.h"
#include "app/cli/described_info.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "app/cli/weights_info.h"
#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/dialect/held_reals.h"
#include "core/infer/variables.h"
#include "core/report/json_values.h"

#include <algorithm>
#include <map>

namespace halftone::cli {
namespace {

using graph::NodeId;

struct Facts
{
    const io::LoadedModel &loaded;
    std::vector<infer::Variable> variables;
    infer::ShapeMap shapes;
    std::map<std::string, std::size_t> operators;
    std::vector<std::string> notes;

    const graph::Graph &graph() const { return loaded.model.graph; }
};

struct ParameterFacts
{
    std::size_t count = 0;
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;
    std::map<std::string, std::size_t> dtypes;
};

ParameterFacts factsOf(std::span<const tensor::Array> arrays)
{
    ParameterFacts facts;
    facts.count = arrays.size();
    for (const tensor::Array &array : arrays) {
        facts.elements += array.values.elementCount();
        facts.bytes += array.values.storedBytes();
        for (const tensor::Tensor &indices : array.indices)
            facts.bytes += indices.bytes().size();
        ++facts.dtypes[std::string(tensor::nameOf(array.values.dtype()))];
    }
    return facts;
}

std::string_view nameOf(tensor::Storage storage)
{
    switch (storage) {
    case tensor::Storage::RowSparse:
        return "row_sparse";
    case tensor::Storage::Csr:
        return "csr";
    case tensor::Storage::Dense:
        break;
    }
    return "default";
}

Json parametersJson(std::span<const tensor::Array> arrays)
{
    const ParameterFacts facts = factsOf(arrays);
    return {{"count", facts.count},
            {"elements", facts.elements},
            {"bytes", facts.bytes},
            {"dtypes", facts.dtypes}};
}

/// The reals that bodies hold themselves.
std::vector<tensor::Array> heldInBodies(const graph::Graph &graph)
{
    std::vector<tensor::Array> arrays;
    for (tensor::Tensor &held : dialect::heldRealsOfBodies(graph)) {
        tensor::Array array;
        array.shape = held.shape();
        array.values = std::move(held);
        arrays.push_back(std::move(array));
    }
    return arrays;
}

Json arraysJson(std::span<const tensor::Array> arrays)
{
    Json rows = Json::array();
    for (std::size_t k = 0; k < arrays.size(); ++k) {
        const tensor::Array &array = arrays[k];
        rows.push_back({{"name", array.name.empty() ? std::to_string(k) : array.name},
                        {"shape", report::jsonShape(array.shape)},
                        {"dtype", tensor::nameOf(array.values.dtype())},
                        {"storage", nameOf(array.storage)}});
    }
    return rows;
}

Json infoJson(const Facts &facts)
{
    const graph::Graph &graph = facts.graph();
    Json inputs = Json::array();
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.isVariable(id) && facts.variables[id].isData)
            inputs.push_back({{"name", graph.node(id).name},
                              {"shape", report::jsonShape(facts.shapes.byNode[id].front())},
                              {"dtype", tensor::nameOf(facts.variables[id].type)}});
    }
    Json outputs = Json::array();
    for (const graph::Entry &head : graph.heads())
        outputs.push_back({{"name", dialect::of(graph).entryName(graph, head)},
                           {"shape", report::jsonShape(facts.shapes.of(head))}});
    Json notes = facts.notes;
    if (facts.loaded.facts)
        return describedInfo(facts.loaded, facts.shapes, parametersJson(facts.loaded.model.parameters),
                             parametersJson(heldInBodies(graph)), std::move(notes));
    return {{"format", infoNameOf(graph)},
            {"symbol", facts.loaded.modelPath},
            {"params_file", facts.loaded.paramsPath.empty() ? Json(nullptr) : Json(facts.loaded.paramsPath)},
            {"inputs", std::move(inputs)},
            {"outputs", std::move(outputs)},
            {"nodes", graph.nodeCount()},
            {"ops", facts.operators},
            {"units", unitsJson(facts.loaded.model)},
            {"params", parametersJson(facts.loaded.model.parameters)},
            {"notes", std::move(notes)}};
}

std::string parametersLine(std::span<const tensor::Array> arrays)
{
    const ParameterFacts facts = factsOf(arrays);
    std::vector<std::string> types;
    for (const auto &[type, count] : facts.dtypes)
        types.push_back(facts.dtypes.size() == 1 ? type : type + " " + std::to_string(count));
    return withThousands(facts.elements) + " values in " + counted(facts.count, "array", "arrays") + ", "
        + humanBytes(facts.bytes) + (types.empty() ? "" : ", " + joined(types));
}

void printInfo(const Facts &facts)
{
    const graph::Graph &graph = facts.graph();
    Table head;
    head.add({"model", printable(facts.loaded.modelPath)});
    head.add(
        {"parameters",
         facts.loaded.model.hasParameters ? parametersLine(facts.loaded.model.parameters) : "not loaded"});
    if (const auto held = heldInBodies(graph); !held.empty())
        head.add({"in bodies", parametersLine(held)});
    for (const std::string &line : weightLines(facts.loaded.model))
        head.add({"weights", line});
    head.add({"nodes", withThousands(graph.nodeCount())});
    std::vector<std::string> units;
    const Json counts = unitsJson(facts.loaded.model);
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
                   std::string(nameOf(arrays[k].storage))});
    print(table.toString());
}

Result<void> info(const ModelOptions &options, bool json)
{
    HALFTONE_TRY(const session::Session session, options.open(true));
    const io::LoadedModel &loaded = session.source();
    if (loaded.modelPath.empty()) { // a bare parameter file
        if (json)
            printJson(Json{{"format", io::formatOf(loaded.model.graph)->parametersInfoName},
                           {"params", parametersJson(loaded.model.parameters)},
                           {"arrays", arraysJson(loaded.model.parameters)}});
        else
            printArrays(loaded);
        return {};
    }
    std::vector<policy::Warning> warnings;
    HALFTONE_TRY(std::vector<infer::Variable> variables,
                 infer::classifyVariables(loaded.model, {}, warnings));
    std::vector<std::string> notes = loaded.notes;
    HALFTONE_TRY(infer::ShapeMap shapes, session.shapes(notes));
    Facts facts{loaded, std::move(variables), std::move(shapes), {}, std::move(notes)};
    for (NodeId id = 0; id < facts.graph().nodeCount(); ++id) {
        if (!facts.graph().isVariable(id))
            ++facts.operators[facts.graph().node(id).op];
    }
    if (json) {
        Json described = infoJson(facts);
        addWeights(loaded.model, described);
        printJson(described);
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
        chosen = [options](const std::stop_token &) { return info(options->model, options->json); };
    });
}

} // namespace halftone::cli
