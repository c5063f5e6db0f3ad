#include "core/report/conversion_json.h"

#include "core/base/json.h"
#include "core/dialect/dialect.h"
#include "core/mixed/node_arithmetic.h"
#include "core/report/json_values.h"
#include "core/rewrite/nested_conversions.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace halftone::report {
namespace {

using graph::NodeId;
using Json = OrderedJson;

Json typeOrNull(tensor::DType type)
{
    return type == tensor::DType::Unknown ? Json(nullptr) : Json(tensor::nameOf(type));
}

/// What it would have cost if an operator that may choose computed in the other type. null: it may not
Json choiceJson(const rewrite::TypeChoice *choice)
{
    if (choice == nullptr)
        return nullptr;
    return {{"dtype", tensor::nameOf(choice->other)},
            {"casts", choice->casts},
            {"bytes", choice->bytes},
            {"loses_bits", choice->losesBits}};
}

Json nodeJson(const graph::Graph &source, NodeId id, const mixed::ConvertedModel &converted,
              const mixed::NodeArithmetic &arithmetic, const rewrite::TypeChoice *choice)
{
    const graph::NodeDef &node = source.node(id);
    const auto &assignment = converted.assignment;
    const tensor::DType precision = converted.conversion.precisionOf(id);
    Json row = Json::object();
    auto &fields = row.get_ref<Json::object_t &>();
    fields.reserve(12);
    fields.emplace_back("name", node.name);
    fields.emplace_back("op", node.op);
    fields.emplace_back("requested", policy::nameOf(assignment.requested(id)));
    fields.emplace_back("assigned", typeOrNull(precision));
    fields.emplace_back("accumulate", typeOrNull(arithmetic.accumulate));
    fields.emplace_back("output", typeOrNull(arithmetic.output));
    fields.emplace_back("unit", arithmetic.unit ? Json(hardware::nameOf(*arithmetic.unit)) : Json(nullptr));
    fields.emplace_back("rule", policy::nameOf(assignment.rule(id)));
    fields.emplace_back("entry", assignment.entry(id));
    fields.emplace_back("other_choice", choiceJson(choice));
    if (converted.conversion.isInt8(id) && converted.conversion.int8Group[id] != id)
        row["fused_into"] = source.node(converted.conversion.int8Group[id]).name;
    return row;
}

/// By unit, how many times as fast as float32 the chip is in the target type.
Json ratesJson(const hardware::Description &chip, tensor::DType type)
{
    Json rates = Json::object();
    for (const hardware::Unit unit : hardware::kAllUnits) {
        const auto found = chip.measuredSpeed(unit, type);
        rates[std::string(hardware::nameOf(unit))] = {{"support", hardware::nameOf(chip.support(unit, type))},
                                                      {"rate", chip.rate(unit, type)},
                                                      {"measured", found ? Json(*found) : Json(nullptr)}};
    }
    return rates;
}

Json readerJson(const graph::Graph &source, const rewrite::Reader &reader)
{
    if (reader.node == rewrite::kNoNode)
        return {{"head", reader.input}};
    return {{"node", source.node(reader.node).name}, {"input", reader.input}};
}

std::string_view kindOf(rewrite::CastKind kind)
{
    return kind == rewrite::CastKind::Quantize  ? "quantize"
        : kind == rewrite::CastKind::Dequantize ? "dequantize"
                                                : "cast";
}

Json castJson(const graph::Graph &source, const rewrite::InsertedCast &cast,
              const rewrite::Conversion &conversion)
{
    Json readers = Json::array();
    for (const rewrite::Reader &reader : cast.readers)
        readers.push_back(readerJson(source, reader));
    return {{"name", conversion.graph.node(cast.cast).name},
            {"kind", kindOf(cast.kind)},
            {"dtype", cast.type == tensor::DType::Unknown ? Json(nullptr) : Json(tensor::nameOf(cast.type))},
            {"of_accumulator", cast.ofAccumulator},
            {"tensor", dialect::of(source).entryName(source, cast.tensor)},
            {"consumers", cast.readers.size()},
            {"needed_by", readers.front()},
            {"readers", std::move(readers)}};
}

Json castsJson(const graph::Graph &source, const rewrite::Conversion &conversion)
{
    Json casts = Json::array();
    for (const rewrite::InsertedCast &cast : conversion.casts)
        casts.push_back(castJson(source, cast, conversion));
    return casts;
}

/// What the operators of a body compute in.
Json bodyNodesJson(const graph::Graph &source, const rewrite::Conversion &conversion)
{
    Json rows = Json::array();
    for (NodeId id = 0; id < source.nodeCount(); ++id)
        if (!source.isVariable(id) && conversion.fromSource[id] != rewrite::kNoNode)
            rows.push_back({{"name", source.node(id).name},
                            {"op", source.node(id).op},
                            {"assigned", typeOrNull(conversion.precisionOf(id))}});
    return rows;
}

/// What was done to the graph besides inserting casts. `of`: the graph that `conversion` was made from.
void addActions(Json &json, const graph::Graph &of, const rewrite::Conversion &conversion)
{
    const auto nameOf = [&of](NodeId id) { return of.node(id).name; };
    json["casts_folded"] = Json::array();
    for (const NodeId id : conversion.foldedCasts)
        json["casts_folded"].push_back(nameOf(id));
    json["casts_moved"] = Json::array();
    for (const rewrite::MovedCasts &moved : conversion.moved)
        json["casts_moved"].push_back({{"past", nameOf(moved.past)}, {"dtype", tensor::nameOf(moved.type)}});
    json["merged"] = Json::array();
    for (const rewrite::MergedNode &merged : conversion.merged)
        json["merged"].push_back({{"node", nameOf(merged.node)}, {"into", nameOf(merged.into)}});
    json["heads_copied"] = Json::array();
    for (const rewrite::CopiedHead &copied : conversion.copiedHeads)
        json["heads_copied"].push_back(
            {{"head", copied.head}, {"copy", conversion.graph.node(copied.copy).name}});
    json["bodies"] = Json::array();
    for (const rewrite::ConvertedBody &body : conversion.bodies) {
        const graph::Graph &source = *of.node(body.node).subgraphs[body.body];
        Json row{{"node", nameOf(body.node)},
                 {"body", body.body},
                 {"casts", rewrite::castTotals(body.conversion).casts},
                 {"cast_nodes", castsJson(source, body.conversion)},
                 {"nodes", bodyNodesJson(source, body.conversion)}};
        addActions(row, source, body.conversion);
        json["bodies"].push_back(std::move(row));
    }
}

std::string dumped(const Json &document)
{
    return jsonText(document, 1);
}

/// The rows of "nodes" as they stand in the report's text, each made and written by itself: a hundred thousand of them as JSON values
/// take more time and memory than the conversion.
std::string nodeRows(const graph::Graph &source, const mixed::ConvertedModel &converted,
                     const infer::ShapeMap *shapes)
{
    const rewrite::Conversion &conversion = converted.conversion;
    const std::vector<mixed::NodeArithmetic> arithmetic = mixed::arithmeticOf(source, converted);
    std::unordered_map<NodeId, const rewrite::TypeChoice *> choices;
    for (const rewrite::TypeChoice &choice : conversion.choices)
        choices.emplace(choice.node, &choice);
    std::string rows;
    for (NodeId id = 0; id < source.nodeCount(); ++id) {
        const bool isGone = conversion.fromSource[id] == rewrite::kNoNode && !conversion.isInt8(id);
        if (isGone || source.isVariable(id)) // variables compute nothing
            continue;
        const auto choice = choices.find(id);
        Json row = nodeJson(source, id, converted, arithmetic[id],
                            choice == choices.end() ? nullptr : choice->second);
        if (shapes != nullptr)
            row["shape"]
                = jsonShape(shapes->byNode[id].empty() ? tensor::Shape() : shapes->byNode[id].front());
        if (!rows.empty())
            rows += ',';
        const std::string text = dumped(row);
        for (std::string_view left = text; !left.empty();) { // no line ends within a name: that is escaped
            const std::size_t length = std::min(left.find('\n'), left.size());
            rows.append("\n  ").append(left.substr(0, length));
            left.remove_prefix(std::min(length + 1, left.size()));
        }
    }
    return rows;
}

/// Puts rows into the empty array `key` of the report.
void insertRows(std::string &report, std::string_view key, std::string_view rows)
{
    if (rows.empty())
        return;
    const std::string empty = "\n \"" + std::string(key) + "\": [";
    const std::size_t place = report.find(empty) + empty.size();
    report.insert(place, "\n ").insert(place, rows);
}

Json parameterJson(const mixed::ParameterChange &change)
{
    return {{"name", change.name},
            {"from", tensor::nameOf(change.from)},
            {"to", tensor::nameOf(change.to)},
            {"overflowed", change.losses.overflowed},
            {"flushed_to_zero", change.losses.flushed},
            {"subnormal", change.losses.subnormal}};
}

} // namespace

std::string conversionJson(const graph::Graph &source, const mixed::ConvertedModel &converted,
                           const infer::ShapeMap *shapes)
{
    const rewrite::Conversion &conversion = converted.conversion;
    const rewrite::CastCounts counts = rewrite::castTotals(conversion);
    Json parameters = Json::array();
    for (const mixed::ParameterChange &change : converted.parameters)
        parameters.push_back(parameterJson(change));
    Json heads = Json::array();
    for (std::size_t k = 0; k < source.heads().size(); ++k)
        heads.push_back(
            {{"name", dialect::of(source).entryName(source, source.heads()[k])},
             {"converted", dialect::of(source).entryName(conversion.graph, conversion.graph.heads()[k])}});
    Json warnings = Json::array();
    for (const policy::Warning &warning : converted.warnings) {
        warnings.push_back({{"entry", warning.entry}, {"text", warning.text}});
        if (!warning.code.empty())
            warnings.back().update({{"code", warning.code}, {"nodes", warning.nodes}});
    }

    Json report{
        {"target", tensor::nameOf(converted.policy.target)},
        {"mode", policy::nameOf(converted.policy.mode.value_or(policy::Mode::Typed))},
        {"hardware", converted.chip ? Json(converted.chip->name) : Json(nullptr)},
        {"optimise", policy::nameOf(converted.policy.optimise.value_or(policy::Optimise::Casts))},
        {"rates", converted.chip ? ratesJson(*converted.chip, converted.policy.target) : Json(nullptr)},
        {"casts", counts.casts},
        {"casts_in_bodies", counts.casts - conversion.castCounts().casts},
        {"casts_of_accumulators", counts.ofAccumulators},
        {"multicasts", counts.multicasts},
        {"casts_shared", counts.shared},
        {"quantizes", counts.quantizes},
        {"dequantizes", counts.dequantizes},
        {"cast_nodes", castsJson(source, conversion)}};
    addActions(report, source, conversion);
    report["nodes"] = Json::array();
    report["params"] = std::move(parameters);
    report["outputs"] = std::move(heads);
    if (const int version = dialect::of(source).versionNumber(); version > 0)
        report["opset"] = {{"from", version},
                           {"to", dialect::of(conversion.graph).versionNumber()},
                           {"why", converted.whyRaised}};
    report["warnings"] = std::move(warnings);
    report["seconds"] = converted.seconds;
    std::string text = dumped(report);
    insertRows(text, "nodes", nodeRows(source, converted, shapes));
    return text;
}

} // namespace halftone::report
