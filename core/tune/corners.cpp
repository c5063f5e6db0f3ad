#include "core/tune/corners.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace halftone::tune {
namespace {

constexpr std::size_t kNearLimit = 2; // corners that are measured, where a limit says which
constexpr double kMostDb = 150; // errors below this are none
constexpr double kLeastGain = 0.003; // of what is dominated, for a corner to be worth its time

/// The area of milliseconds below `slowest` and decibels that is no better than one of the points.
double dominated(std::vector<Prediction> points, double slowest)
{
    std::ranges::sort(points, {}, &Prediction::milliseconds);
    double area = 0;
    double reached = 0;
    for (const Prediction &point : points) {
        const double decibels = std::min(point.sqnrDb, kMostDb);
        if (decibels <= reached || point.milliseconds >= slowest)
            continue;
        area += (slowest - point.milliseconds) * (decibels - reached);
        reached = decibels;
    }
    return area;
}

} // namespace

const Labels *mostGained(const Front &front, const std::vector<Labels> &hull)
{
    std::vector<Prediction> known;
    for (const Point &point : front.points)
        if (point.measured && point.measured->isClean)
            known.push_back(point.predicted);
    const Labels widest = front.surrogate().widest();
    double slowest = front.predict(widest).milliseconds;
    // Float32 alone may take another layout than beside lowered layers, and then less than the sum says.
    if (const Point *wide = front.find(widest); wide != nullptr && wide->measured)
        slowest = std::min(slowest, wide->measured->milliseconds);
    const double before = dominated(known, slowest);
    const Labels *best = nullptr;
    double most = kLeastGain * before;
    for (const Labels &labels : hull) {
        if (const Point *point = front.find(labels); point == nullptr || point->measured)
            continue;
        std::vector<Prediction> with = known;
        with.push_back(front.predict(labels));
        if (const double gained = dominated(std::move(with), slowest) - before; gained > most) {
            most = gained;
            best = &labels;
        }
    }
    return best;
}

std::vector<std::size_t> nearestTo(const Front &front, const std::vector<Labels> &hull, double decibels)
{
    const Surrogate sums = front.surrogate();
    const double wanted = decibels - decibelsOf(front.kappa);
    std::vector<double> away;
    away.reserve(hull.size());
    for (const Labels &labels : hull)
        away.push_back(std::abs(std::min(decibelsOf(sums.error(labels)), kMostDb) - wanted));
    std::vector<std::size_t> order(hull.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return away[k]; });
    order.resize(std::min(order.size(), kNearLimit));
    return order;
}

} // namespace halftone::tune
