#include "core/tune/front.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

namespace halftone::tune {
namespace {

constexpr double kWidestInterval = 0.3; // of the time, on either side
constexpr double kNoDistance = 1e-30; // errors below this are none

std::string formatted(const char *format, double one, double other = 0)
{
    std::array<char, 96> text{};
    std::snprintf(text.data(), text.size(), format, one, other);
    return text.data();
}

/// What a network loses and takes as it is and with another label of one group.
struct Difference
{
    double before = 0; ///< dB
    double after = 0;
    double gained = 0; ///< milliseconds
    bool isFirst = false; ///< as it is it loses nothing
};

Difference changeTo(const Front &front, const Labels &labels, std::size_t group, Label label)
{
    Labels other = labels;
    other[group] = label;
    const Surrogate surrogate = front.surrogate();
    const double before = std::max(front.kappa * surrogate.error(labels), kNoDistance);
    const double after = std::max(front.kappa * surrogate.error(other), kNoDistance);
    return {decibelsOf(before), decibelsOf(after),
            (surrogate.microseconds(labels) - surrogate.microseconds(other)) / 1e3, before <= kNoDistance};
}

std::string titleOf(Label label, std::string_view target)
{
    return label == Label::Target ? std::string(target) : std::string(nameOf(label));
}

} // namespace

double decibelsOf(double error)
{
    return error > 0 ? -10 * std::log10(error) : std::numeric_limits<double>::infinity();
}

double errorOf(double decibels)
{
    return std::pow(10, -decibels / 10);
}

std::string_view nameOf(Origin origin)
{
    constexpr std::array<std::string_view, 5> kNames{"float32", "lowest", "hull", "repair", "hand"};
    return kNames[static_cast<std::size_t>(origin)];
}

std::string_view nameOf(StoppedBy reason)
{
    constexpr std::array<std::string_view, 4> kNames{"", "done", "time", "cancelled"};
    return kNames[static_cast<std::size_t>(reason)];
}

std::vector<std::string> Front::refusals() const
{
    std::map<std::string, std::size_t> nodes;
    for (const Group &group : groups)
        for (const RefusedNode &refused : group.refused)
            ++nodes[refused.why];
    std::map<std::string, std::size_t> models;
    for (const Point &point : points)
        if (point.measured && !point.measured->refusal.empty())
            ++models[point.measured->refusal];
    std::vector<std::string> texts;
    for (const auto &[why, count] : nodes)
        texts.push_back(std::to_string(count) + (count == 1 ? " node" : " nodes") + " in float32: " + why);
    for (const auto &[why, count] : models)
        texts.push_back(std::to_string(count) + (count == 1 ? " combination" : " combinations")
                        + " not offered: " + why);
    return texts;
}

bool Front::isDisturbed() const
{
    return areLayersDisturbed
        || std::ranges::any_of(best(), [this](std::size_t k) { return points[k].measured->isDisturbed; });
}

Surrogate Front::surrogate() const
{
    Surrogate surrogate;
    for (const Group &group : groups)
        surrogate.groups.push_back(group.costs);
    surrogate.links = links;
    return surrogate;
}

Prediction Front::predict(const Labels &labels) const
{
    const Surrogate sums = surrogate();
    return {sums.microseconds(labels) / 1e3, decibelsOf(kappa * sums.error(labels))};
}

const Point *Front::find(const Labels &labels) const
{
    const Surrogate sums = surrogate();
    const Labels said = sums.said(labels);
    const auto found
        = std::ranges::find_if(points, [&](const Point &one) { return sums.said(one.labels) == said; });
    return found == points.end() ? nullptr : &*found;
}

bool isTimeKnown(const Measurement &measured)
{
    const auto [low, high] = measured.ci95;
    const double room = kWidestInterval * measured.milliseconds;
    return low > 0 && low >= measured.milliseconds - room && high <= measured.milliseconds + room;
}

bool Front::isUnreliable() const
{
    return isDisturbed() || std::ranges::any_of(points, [](const Point &point) {
               return point.measured && (point.measured->isDisturbed || !isTimeKnown(*point.measured));
           });
}

std::vector<std::size_t> Front::best() const
{
    return bestOf(false);
}

std::vector<std::size_t> Front::bestOfKnown() const
{
    return bestOf(true);
}

std::vector<std::size_t> Front::bestOf(bool onlyKnown) const
{
    std::vector<std::size_t> offered;
    for (std::size_t k = 0; k < points.size(); ++k) {
        const auto &measured = points[k].measured;
        const bool isReference = points[k].origin == Origin::Float32;
        if (measured
            && (isReference
                || (measured->isClean && measured->ratio < 1 && (!onlyKnown || isTimeKnown(*measured)))))
            offered.push_back(k);
    }
    const auto key = [this](std::size_t k) {
        const Measurement &m = *points[k].measured;
        return std::tuple(points[k].origin != Origin::Float32, -m.sqnrDb, m.milliseconds);
    };
    std::ranges::sort(offered, {}, key);
    double least = std::numeric_limits<double>::infinity();
    std::erase_if(offered, [&](std::size_t k) {
        const double time = points[k].measured->milliseconds;
        const bool isBeaten = time >= least;
        least = std::min(least, time);
        return isBeaten;
    });
    return offered;
}

Labels relabelled(const Labels &labels, const std::vector<Group> &from, const std::vector<Group> &to)
{
    std::unordered_map<graph::NodeId, std::size_t> places;
    for (std::size_t k = 0; k < from.size(); ++k)
        for (const graph::NodeId node : from[k].nodes)
            places.emplace(node, k);
    Labels result;
    for (const Group &group : to) {
        Label label = group.costs.widest();
        for (const graph::NodeId node : group.nodes) {
            const auto place = places.find(node);
            if (place == places.end()) // not in this record's groups
                continue;
            label = labels[place->second];
            if (from[place->second].isTunable)
                break;
        }
        result.push_back(label);
    }
    return result;
}

std::string reasonOf(const Front &front, const Labels &labels, std::size_t group, std::string_view target)
{
    const Group &of = front.groups[group];
    const std::string now = titleOf(labels[group], target);
    if (!of.isTunable)
        return now + (of.whyFixed.empty() ? ": follows its neighbours" : ": " + of.whyFixed);
    Label other = labels[group] == Label::Float32 ? Label::Target : Label::Float32;
    if (!of.costs.allows(other))
        other = Label::Int8;
    const Difference change = changeTo(front, labels, group, other);
    const bool isWide = labels[group] == Label::Float32;
    if (!of.isErrorKnown) // the search had no need of it
        return isWide
            ? now + ": lowering it to " + titleOf(other, target) + formatted(" gains %.3f ms", change.gained)
            : now + formatted(": saves %.3f ms", -change.gained);
    if (isWide && change.isFirst)
        return now + ": lowering it to " + titleOf(other, target)
            + formatted(" leaves %.1f dB for %.3f ms", change.after, change.gained);
    if (isWide)
        return now + ": lowering it to " + titleOf(other, target)
            + formatted(" costs %.1f dB for %.3f ms", change.before - change.after, change.gained);
    return now + formatted(": costs %.1f dB, saves %.3f ms", change.after - change.before, -change.gained);
}

} // namespace halftone::tune
