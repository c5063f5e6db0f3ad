#include "core/report/front_figures.h"

#include "core/base/json.h"
#include "core/base/markup.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace halftone::report {
namespace {

using Values = SortedJson;

/// Looks values up by their JSON path and remembers the first that is not as it should be.
class FrontReader
{
public:
    const std::optional<Error> &error() const { return m_error; }

    /// A number, or one of the texts that stand for those that JSON cannot say.
    double number(const Values &from, const std::string &path, const char *key)
    {
        const std::optional<double> found = maybe(from, path, key);
        return found ? *found : fail(path, key, "missing", "a number");
    }
    std::optional<double> maybe(const Values &from, const std::string &path, const char *key)
    {
        const auto found = from.find(key);
        if (found == from.end() || found->is_null())
            return std::nullopt;
        return numberIn(*found, path, key);
    }
    std::string text(const Values &from, const std::string &path, const char *key)
    {
        const auto found = from.find(key);
        if (found != from.end() && found->is_string())
            return found->get<std::string>();
        fail(path, key, found == from.end() ? "missing" : found->type_name(), "a text");
        return {};
    }
    const Values &member(const Values &from, const std::string &path, const char *key, Values::value_t type,
                         const char *expected)
    {
        static const Values kNone;
        const auto found = from.find(key);
        const bool fits = found != from.end() && found->type() == type;
        if (!fits)
            fail(path, key, found == from.end() ? "missing" : found->type_name(), expected);
        return fits ? *found : kNone;
    }
    double numberIn(const Values &value, const std::string &path, const char *key)
    {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        if (value.is_number())
            return value.get<double>();
        if (value == "inf")
            return kInfinity;
        if (value == "-inf")
            return -kInfinity;
        if (value == "nan")
            return std::numeric_limits<double>::quiet_NaN();
        return fail(path, key, value.type_name(), "a number");
    }
    double fail(const std::string &path, const char *key, std::string found, std::string expected)
    {
        if (!m_error)
            m_error = badInput(path.empty() ? key : path + '.' + key, std::move(found), std::move(expected));
        return 0;
    }

private:
    std::optional<Error> m_error;
};

std::array<double, 2> readInterval(FrontReader &reader, const Values &json, const std::string &path)
{
    const Values &ends = reader.member(json, path, "ci95", Values::value_t::array, "two numbers");
    if (ends.size() != 2) {
        reader.fail(path, "ci95", std::to_string(ends.size()) + " values", "two numbers");
        return {};
    }
    return {reader.numberIn(ends[0], path, "ci95[0]"), reader.numberIn(ends[1], path, "ci95[1]")};
}

FrontPoint readPoint(FrontReader &reader, const Values &json, const std::string &path)
{
    FrontPoint point;
    if (!json.is_object()) {
        reader.fail({}, path.c_str(), json.type_name(), "an object");
        return point;
    }
    point.milliseconds = reader.number(json, path, "median_ms");
    point.ci95 = readInterval(reader, json, path);
    point.ratio = reader.number(json, path, "ratio");
    point.sqnrDb = reader.number(json, path, "sqnr_db");
    const Values &predicted
        = reader.member(json, path, "predicted", Values::value_t::object, "what was predicted");
    point.predictedMs = reader.number(predicted, path + ".predicted", "median_ms");
    point.predictedDb = reader.number(predicted, path + ".predicted", "sqnr_db");
    point.top1 = reader.maybe(json, path, "top1");
    point.top1Reference = reader.maybe(json, path, "top1_fp32");
    point.origin = reader.text(json, path, "origin");
    const Values &groups
        = reader.member(json, path, "groups", Values::value_t::object, "the reason of each group");
    for (const auto &[name, reason] : groups.items()) {
        if (reason.is_string())
            point.reasons.emplace(name, reason.get<std::string>());
        else
            reader.fail(path + ".groups", name.c_str(), reason.type_name(), "a text");
    }
    return point;
}

void readPoints(FrontReader &reader, const Values &json, const char *key, bool areOffered,
                FrontFigures &front)
{
    const Values &list = reader.member(json, {}, key, Values::value_t::array, "a list of points");
    for (std::size_t k = 0; k < list.size(); ++k) {
        FrontPoint point = readPoint(reader, list[k], std::string(key) + '[' + std::to_string(k) + ']');
        point.isOffered = areOffered;
        front.points.push_back(std::move(point));
    }
}

} // namespace

Result<FrontFigures> readFront(std::string_view text)
{
    const Values json = Values::parse(text, nullptr, false);
    if (!json.is_object())
        return badInput({}, json.is_discarded() ? "not JSON" : json.type_name(), "a front written by tune");
    FrontReader reader;
    FrontFigures front;
    readPoints(reader, json, "points", true, front);
    readPoints(reader, json, "measured", false, front);
    front.limit = reader.maybe(json, {}, "limit");
    front.isLimitOfTop1 = reader.text(json, {}, "metric") == "top1";
    front.evaluations = static_cast<std::size_t>(
        std::clamp(reader.number(json, {}, "evaluations"), 0.0, 1e9)); // of no use where it is not one
    front.seconds = reader.number(json, {}, "seconds");
    front.kappa = reader.number(json, {}, "kappa");
    front.lowerBoundGap = reader.number(json, {}, "lower_bound_gap");
    if (reader.error())
        return *reader.error();
    return front;
}

} // namespace halftone::report
