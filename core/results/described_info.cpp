#include "core/results/described_info.h"

#include "core/base/text.h"
#include "core/dialect/calls.h"
#include "core/dialect/coded_pairs.h"
#include "core/dialect/dialect.h"
#include "core/patterns/unit.h"
#include "core/report/json_values.h"

#include <map>
#include <set>

namespace halftone::results {

using Json = OrderedJson;

namespace {

struct Counts
{
    std::size_t mainNodes = 0;
    std::size_t bodyNodes = 0;
    std::map<std::string, std::size_t> operators;
    std::set<std::string> unknown;
    bool hasPairs = false; ///< around operators that are to be computed with codes
    bool hasCodedOperators = false;
};

void count(const graph::Graph &graph, bool isBody, Counts &counts)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.isVariable(id))
            continue;
        const graph::NodeDef &node = graph.node(id);
        ++(isBody ? counts.bodyNodes : counts.mainNodes);
        ++counts.operators[node.op];
        const bool isFunction = dialect::isCall(graph, id);
        if (dialect::of(graph).findOp(node.op) == nullptr && !isFunction)
            counts.unknown.insert(node.op);
        const dialect::CodedPairs *const pairs = dialect::codedPairsOf(dialect::of(graph));
        counts.hasPairs = counts.hasPairs || (pairs != nullptr && pairs->isLikePairNode(node));
        counts.hasCodedOperators
            = counts.hasCodedOperators || (pairs != nullptr && pairs->computesCodes(node));
        for (const auto &body : node.subgraphs)
            if (!isFunction) // the file holds it once, apart from its graphs
                count(*body, true, counts);
    }
}

Json valuesJson(const std::vector<io::FileFacts::Value> &values)
{
    Json rows = Json::array();
    for (const io::FileFacts::Value &value : values) {
        Json shape = nullptr;
        if (value.shape) {
            shape = Json::array();
            for (const std::string &dim : *value.shape) {
                const auto number = parseInteger(dim);
                shape.push_back(number ? Json(*number) : dim == "?" ? Json(nullptr) : Json(dim));
            }
        }
        rows.push_back({{"name", value.name}, {"shape", std::move(shape)}, {"dtype", value.dtype}});
    }
    return rows;
}

/// Reshapes whose targets the network computes, with the shapes that follow from arithmetic alone.
Json computedShapes(const graph::Graph &graph, const infer::ShapeMap &shapes)
{
    const dialect::Dialect &dialect = dialect::of(graph);
    Json rows = Json::array();
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        const auto inputs = graph.inputs(id);
        if (node.isVariable() || inputs.size() < 2 || graph.inputs(inputs[1].node).empty())
            continue;
        const auto op = dialect.readKind(node);
        if (op.ok() && (op.value().is<ops::Reshape>() || op.value().is<ops::Expand>()))
            rows.push_back({{"node", node.name},
                            {"op", node.op},
                            {"shape", report::jsonShape(shapes.byNode[id].front())}});
    }
    return rows;
}

} // namespace

std::string_view infoNameOf(const graph::Graph &graph)
{
    const io::ModelFormat *const format = io::formatOf(graph);
    return format != nullptr ? format->infoName : dialect::of(graph).name();
}

Json unitsJson(const graph::Model &model)
{
    std::map<std::string, std::size_t> counts;
    const patterns::Network network = patterns::networkOf(model);
    for (const patterns::Unit &unit : patterns::findAllUnits(network))
        ++counts[std::string(patterns::titleOf(unit.kind))];
    Json units = Json::object();
    for (const auto &[title, count] : counts)
        units[title] = count;
    return units;
}

Json describedInfo(const io::LoadedModel &loaded, const infer::ShapeMap &shapes, Json params, Json inBodies,
                   Json notes)
{
    const io::FileFacts &facts = *loaded.facts;
    Counts counts;
    count(loaded.model.graph, false, counts);
    Json metadata = Json::object();
    for (const auto &[key, value] : facts.metadata)
        metadata[key] = value;
    return {{"format", infoNameOf(loaded.model.graph)},
            {"ir_version", facts.formatVersion},
            {"opset", facts.operatorSets},
            {"producer", facts.producer},
            {"metadata", std::move(metadata)},
            {"functions", facts.functions},
            {"inputs", valuesJson(facts.inputs)},
            {"outputs", valuesJson(facts.outputs)},
            {"nodes", counts.mainNodes},
            {"subgraph_nodes", counts.bodyNodes},
            {"ops", counts.operators},
            {"unknown_ops", counts.unknown},
            {"units", unitsJson(loaded.model)},
            {"computed_shapes", computedShapes(loaded.model.graph, shapes)},
            {"params", std::move(params)},
            {"subgraph_params", std::move(inBodies)},
            {"external_data", {{"file", facts.externalFiles}, {"bytes", facts.externalBytes}}},
            {"quantized", {{"qdq", counts.hasPairs}, {"qoperator", counts.hasCodedOperators}}},
            {"notes", std::move(notes)}};
}

} // namespace halftone::results
