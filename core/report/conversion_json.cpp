#include "core/report/conversion_json.h"

#include "core/dialect/mxnet/entry_name.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace halftone::report {
namespace {

using graph::NodeId;
using Json = nlohmann::ordered_json;
namespace mx = dialect::mxnet;

Json shapeJson(const tensor::Shape &shape)
{
    if (!shape.hasRank())
        return nullptr;
    Json dims = Json::array();
    for (const std::int64_t dim : shape.dims())
        dims.push_back(dim < 0 ? Json(nullptr) : Json(dim));
    return dims;
}

Json nodeJson(const graph::Graph &source, NodeId id, const passes::ConvertedModel &converted)
{
    const graph::NodeDef &node = source.node(id);
    const auto &assignment = converted.assignment;
    const tensor::DType precision = converted.conversion.precisionOf(id);
    Json row{
        {"name", node.name},
        {"op", node.op},
        {"requested", policy::nameOf(assignment.requested(id))},
        {"assigned", precision == tensor::DType::Unknown ? Json(nullptr) : Json(tensor::nameOf(precision))},
        {"rule", policy::nameOf(assignment.rule(id))},
        {"entry", assignment.entry(id)}};
    return row;
}

Json castJson(const graph::Graph &source, const passes::InsertedCast &cast,
              const passes::Conversion &conversion)
{
    Json row{{"name", conversion.graph.node(cast.cast).name},
             {"dtype", cast.type == tensor::DType::Unknown ? Json(nullptr) : Json(tensor::nameOf(cast.type))},
             {"tensor", mx::entryName(source, cast.tensor)},
             {"consumers", cast.consumers}};
    if (cast.consumer == passes::kNoNode)
        row["needed_by"] = {{"head", cast.input}};
    else
        row["needed_by"] = {{"node", source.node(cast.consumer).name}, {"input", cast.input}};
    return row;
}

Json parameterJson(const passes::ParameterChange &change)
{
    return {{"name", change.name},
            {"from", tensor::nameOf(change.from)},
            {"to", tensor::nameOf(change.to)},
            {"overflowed", change.losses.overflowed},
            {"flushed_to_zero", change.losses.flushed},
            {"subnormal", change.losses.subnormal}};
}

} // namespace

std::string conversionJson(const graph::Graph &source, const passes::ConvertedModel &converted,
                           const passes::ShapeMap *shapes)
{
    const passes::Conversion &conversion = converted.conversion;
    const passes::CastCounts counts = conversion.castCounts();
    Json casts = Json::array();
    for (const passes::InsertedCast &cast : conversion.casts)
        casts.push_back(castJson(source, cast, conversion));
    Json nodes = Json::array();
    for (NodeId id = 0; id < source.nodeCount(); ++id) {
        if (conversion.fromSource[id] == passes::kNoNode)
            continue;
        nodes.push_back(nodeJson(source, id, converted));
        if (shapes != nullptr)
            nodes.back()["shape"]
                = shapeJson(shapes->byNode[id].empty() ? tensor::Shape() : shapes->byNode[id].front());
    }
    Json parameters = Json::array();
    for (const passes::ParameterChange &change : converted.parameters)
        parameters.push_back(parameterJson(change));
    Json heads = Json::array();
    for (std::size_t k = 0; k < source.heads().size(); ++k)
        heads.push_back({{"name", mx::entryName(source, source.heads()[k])},
                         {"converted", mx::entryName(conversion.graph, conversion.graph.heads()[k])}});
    Json warnings = Json::array();
    for (const policy::Warning &warning : converted.warnings)
        warnings.push_back({{"entry", warning.entry}, {"text", warning.text}});

    const Json report{{"target", tensor::nameOf(converted.policy.target)},
                      {"mode", "mxnet"},
                      {"casts", counts.casts},
                      {"multicasts", counts.multicasts},
                      {"casts_shared", counts.shared},
                      {"cast_nodes", std::move(casts)},
                      {"nodes", std::move(nodes)},
                      {"params", std::move(parameters)},
                      {"outputs", std::move(heads)},
                      {"warnings", std::move(warnings)},
                      {"seconds", converted.seconds}};
    return report.dump(1, ' ', false, Json::error_handler_t::replace);
}

} // namespace halftone::report
