#include "core/results/info_json.h"

#include "core/dialect/dialect.h"
#include "core/dialect/held_reals.h"
#include "core/report/json_values.h"
#include "core/results/described_info.h"
#include "core/results/weights_json.h"

namespace halftone::results {

using graph::NodeId;
using Json = OrderedJson;

namespace {

Json parametersJson(std::span<const tensor::Array> arrays)
{
    const ParameterFacts facts = parameterFacts(arrays);
    return {{"count", facts.count},
            {"elements", facts.elements},
            {"bytes", facts.bytes},
            {"dtypes", facts.dtypes}};
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

} // namespace

ParameterFacts parameterFacts(std::span<const tensor::Array> arrays)
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

OrderedJson infoJson(const ModelFacts &facts)
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
    if (facts.loaded.facts) {
        Json described
            = describedInfo(facts.loaded, facts.shapes, parametersJson(facts.loaded.model.parameters),
                            parametersJson(heldInBodies(graph)), std::move(notes));
        addWeights(facts.loaded.model, described);
        return described;
    }
    Json json{
        {"format", infoNameOf(graph)},
        {"symbol", facts.loaded.modelPath},
        {"params_file", facts.loaded.paramsPath.empty() ? Json(nullptr) : Json(facts.loaded.paramsPath)},
        {"inputs", std::move(inputs)},
        {"outputs", std::move(outputs)},
        {"nodes", graph.nodeCount()},
        {"ops", facts.operators},
        {"units", unitsJson(facts.loaded.model)},
        {"params", parametersJson(facts.loaded.model.parameters)},
        {"notes", std::move(notes)}};
    addWeights(facts.loaded.model, json);
    return json;
}

OrderedJson parameterFileJson(const io::LoadedModel &loaded)
{
    return {{"format", io::formatOf(loaded.model.graph)->parametersInfoName},
            {"params", parametersJson(loaded.model.parameters)},
            {"arrays", arraysJson(loaded.model.parameters)}};
}

Result<ModelFacts> modelFacts(const session::Session &session)
{
    const io::LoadedModel &loaded = session.source();
    std::vector<policy::Warning> warnings;
    HALFTONE_TRY(std::vector<infer::Variable> variables,
                 infer::classifyVariables(loaded.model, {}, warnings));
    std::vector<std::string> notes = loaded.notes;
    HALFTONE_TRY(infer::ShapeMap shapes, session.shapes(notes));
    ModelFacts facts{loaded, std::move(variables), std::move(shapes), {}, std::move(notes)};
    for (NodeId id = 0; id < facts.graph().nodeCount(); ++id) {
        if (!facts.graph().isVariable(id))
            ++facts.operators[facts.graph().node(id).op];
    }
    return facts;
}

} // namespace halftone::results
