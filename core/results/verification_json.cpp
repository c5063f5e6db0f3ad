#include "core/results/verification_json.h"

#include "core/policy/policy_options.h"
#include "core/report/figures_object.h"
#include "core/results/common_json.h"

namespace halftone::results {

using Json = OrderedJson;
using mixed::TypeCensus;
using mixed::TypeDifference;
using mixed::TypeShare;

namespace {

template <class Number>
double shareOf(Number part, Number whole)
{
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Null where not one operator of the whole has a known cost.
Json jsonShare(std::int64_t part, std::int64_t whole)
{
    return whole == 0 ? Json() : Json(shareOf(part, whole));
}

Json jsonOf(const TypeShare &share, const TypeShare &sum)
{
    return {{"operators", share.operators}, {"operators_share", shareOf(share.operators, sum.operators)},
            {"flops", share.flops},         {"flops_share", jsonShare(share.flops, sum.flops)},
            {"bytes", share.bytes},         {"bytes_share", jsonShare(share.bytes, sum.bytes)},
            {"uncosted", share.uncosted}};
}

Json jsonOf(const TypeDifference &difference)
{
    return {{"node", difference.name},
            {"op", difference.op},
            {"requested", wordOf(difference.asked)},
            {"computes", wordOf(difference.got)},
            {"entry", difference.entry},
            {"why", difference.why}};
}

} // namespace

TypeShare sumOf(const TypeCensus &census)
{
    TypeShare sum;
    for (const TypeShare &share : census.shares) {
        sum.operators += share.operators;
        sum.uncosted += share.uncosted;
        sum.flops += share.flops;
        sum.bytes += share.bytes;
    }
    return sum;
}

std::string wordOf(tensor::DType type)
{
    return type == tensor::DType::Unknown ? "none" : std::string(tensor::nameOf(type));
}

OrderedJson verificationJson(const session::Census &found, const policy::Policy *policy)
{
    const graph::Graph &graph = found.typed.model.graph;
    const TypeCensus &census = found.census;
    const TypeShare sum = sumOf(census);
    Json types = Json::object();
    for (const TypeShare &share : census.shares)
        types[wordOf(share.type)] = jsonOf(share, sum);
    Json nodes = Json::array();
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id))
            nodes.push_back({{"name", graph.node(id).name},
                             {"op", graph.node(id).op},
                             {"computes", wordOf(census.computes[id])}});
    }
    Json differences = Json::array();
    for (const TypeDifference &difference : census.differences)
        differences.push_back(jsonOf(difference));
    Json json{{"operators", sum.operators},
              {"flops", sum.flops},
              {"bytes", sum.bytes},
              {"uncosted", sum.uncosted},
              {"in_bodies", census.inBodies},
              {"types", std::move(types)},
              {"casts", {{"count", census.casts.operators}, {"bytes", census.casts.bytes}}},
              {"target", policy ? Json(wordOf(policy::askedTarget(*policy))) : Json()},
              {"requested", policy || found.runtime ? Json(census.asked) : Json()},
              {"differences", std::move(differences)},
              {"nodes", std::move(nodes)},
              {"warnings", warningsJson(census.warnings)}};
    if (found.runtime)
        json["runtime"] = report::runtimeObject(*found.runtime);
    return json;
}

} // namespace halftone::results
