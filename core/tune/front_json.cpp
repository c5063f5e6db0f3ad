#include "core/tune/front_json.h"

#include "core/report/json_values.h"
#include "core/tune/recording.h"

#include <algorithm>

namespace halftone::tune {
namespace {

using Json = OrderedJson;
using report::jsonNumber;
using report::numberOrNull;

bool isTop1(const std::optional<Limit> &limit)
{
    return limit && limit->metric == Limit::Metric::Top1;
}

Json pointJson(const Front &front, std::size_t k, const std::string &policy,
               const std::optional<Limit> &limit, std::string_view target)
{
    const Point &point = front.points[k];
    const Measurement &measured = *point.measured;
    const bool isRefused = !measured.refusal.empty();
    Json reasons = Json::object();
    for (std::size_t group = 0; group < front.groups.size(); ++group)
        if (front.groups[group].isTunable)
            reasons[front.groups[group].name] = reasonOf(front, point.labels, group, target);
    return {{"policy", policy.empty() ? Json() : Json(policy)},
            {"labels", textOf(point.labels)},
            {"origin", nameOf(point.origin)},
            {"predicted",
             {{"median_ms", point.predicted.milliseconds}, {"sqnr_db", jsonNumber(point.predicted.sqnrDb)}}},
            {"metric", isTop1(limit) ? numberOrNull(measured.top1) : jsonNumber(measured.sqnrDb)},
            {"sqnr_db", jsonNumber(measured.sqnrDb)},
            {"top1", numberOrNull(measured.top1)},
            {"top1_fp32", numberOrNull(measured.top1Reference)},
            {"top1_agree", numberOrNull(measured.top1Agreement)},
            {"clean", measured.isClean},
            {"within_limit", limit ? Json(limit->holdsFor(measured)) : Json()},
            {"refusal", isRefused ? Json(measured.refusal) : Json()},
            {"median_ms", isRefused ? Json() : Json(measured.milliseconds)},
            {"ci95", isRefused ? Json() : Json(measured.ci95)},
            {"ratio", isRefused ? Json() : Json(measured.ratio)},
            {"timed_by", measured.byDevice ? "device" : "wall clock"},
            {"disturbed", measured.isDisturbed},
            {"found_s", point.foundSeconds},
            {"groups", std::move(reasons)}};
}

Json groupJson(const Group &group)
{
    Json labels = Json::object();
    for (const Label label : kLabels) {
        const auto at = static_cast<std::size_t>(label);
        if (group.costs.allows(label))
            labels[std::string(nameOf(label))] = {{"us", group.costs.microseconds[at]},
                                                  {"sqnr_db", jsonNumber(decibelsOf(group.costs.error[at]))}};
    }
    return {{"name", group.name},
            {"tunable", group.isTunable},
            {"why_fixed", group.whyFixed.empty() ? Json() : Json(group.whyFixed)},
            {"labels", std::move(labels)}};
}

Json refusedJson(const Front &front)
{
    Json rows = Json::array();
    for (const Group &group : front.groups)
        for (const RefusedNode &refused : group.refused)
            rows.push_back({{"node", refused.name}, {"why", refused.why}});
    return rows;
}

} // namespace

OrderedJson frontJson(const Front &front, const std::vector<std::string> &policies,
                      const std::optional<Limit> &limit, std::string_view target)
{
    Json json{{"target", target},
              {"metric", isTop1(limit) ? "top1" : "sqnr_db"},
              {"limit", limit ? Json(limit->value) : Json()},
              {"points", Json::array()},
              {"measured", Json::array()},
              {"groups", Json::array()}};
    const std::vector<std::size_t> best = front.best();
    for (const std::size_t k : best)
        json["points"].push_back(pointJson(front, k, policies[k], limit, target));
    for (std::size_t k = 0; k < front.points.size(); ++k)
        if (front.points[k].measured && std::ranges::find(best, k) == best.end())
            json["measured"].push_back(pointJson(front, k, policies[k], limit, target));
    for (const Group &group : front.groups)
        json["groups"].push_back(groupJson(group));
    json["refused"] = refusedJson(front);
    json["kappa"] = front.kappa;
    json["lower_bound_gap"] = front.lowerBoundGap;
    json["evaluations"] = front.evaluations;
    json["passes"] = front.passes;
    json["seconds"] = front.seconds;
    json["errors_seconds"] = front.errorsSeconds;
    json["stopped_by"] = nameOf(front.stoppedBy);
    json["disturbed"] = front.isDisturbed();
    json["layers_disturbed"] = front.areLayersDisturbed;
    return json;
}

} // namespace halftone::tune
