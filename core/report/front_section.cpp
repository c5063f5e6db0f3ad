#include "core/base/markup.h"
#include "core/report/front_figures.h"
#include "core/report/html_plot.h"

#include <algorithm>
#include <cmath>

namespace halftone::report {
namespace {

using Reasons = std::map<std::string, std::string>;

/// Is it the one that the policy was taken over from?
bool isChosen(const FrontPoint &point, const Reasons &reasons)
{
    return !point.reasons.empty() && std::ranges::all_of(point.reasons, [&](const auto &one) {
        const auto found = reasons.find(one.first);
        return found != reasons.end() && found->second == one.second;
    });
}

std::string errorText(double value)
{
    return std::isinf(value) && value > 0 ? "exact"
        : std::isfinite(value)            ? numberText(value, "%.1f")
                                          : "failed";
}

std::string lossOf(const FrontPoint &point)
{
    return point.top1 && point.top1Reference ? numberText(100 * *point.top1, "%.2f %%") + " ("
            + numberText(100 * (*point.top1 - *point.top1Reference), "%+.2f") + ')'
                                             : "not known";
}

} // namespace

std::string frontPlot(const FrontFigures &front, const Reasons &reasons)
{
    std::vector<PlanePoint> points;
    for (const FrontPoint &one : front.points) {
        PlanePoint point;
        point.name
            = one.origin + ": " + numberText(one.milliseconds, "%.3f ms at ") + errorText(one.sqnrDb) + " dB";
        point.x = one.milliseconds;
        point.interval = one.ci95;
        point.y = one.sqnrDb;
        point.isMarked = isChosen(one, reasons);
        point.isJoined = one.isOffered;
        points.push_back(point);
        point.name
            = "predicted: " + numberText(one.predictedMs, "%.3f ms at ") + errorText(one.predictedDb) + " dB";
        point.x = one.predictedMs;
        point.interval = {one.predictedMs, one.predictedMs};
        point.y = one.predictedDb;
        point.isSolid = point.isMarked = point.isJoined = false;
        points.push_back(std::move(point));
    }
    return planePlot(points, "median ms", "SQNR in dB at the outputs",
                     front.isLimitOfTop1 ? std::nullopt : front.limit);
}

std::string frontTable(const FrontFigures &front, const Reasons &reasons)
{
    std::string html
        = "<table class=sortable><tr><th><th class=n>median ms<th class=n>95 % between<th class=n>of "
          "float32<th class=n>SQNR dB<th class=n>top-1<th class=n>fp32 groups<th>found by\n";
    for (const FrontPoint &point : front.points) {
        const auto wide = std::ranges::count_if(
            point.reasons, [](const auto &one) { return one.second.starts_with("float32"); });
        html += std::string("<tr><td>")
            + (isChosen(point, reasons) ? "<b>this one</b>"
                   : point.isOffered    ? "offered"
                                        : "beaten")
            + "<td class=n>" + numberText(point.milliseconds, "%.3f") + "<td class=n>"
            + numberText(point.ci95[0], "%.3f") + " and " + numberText(point.ci95[1], "%.3f")
            + "<td class=n>×" + numberText(point.ratio, "%.2f") + "<td class=n>" + errorText(point.sqnrDb)
            + "<td class=n>" + lossOf(point) + "<td class=n>" + std::to_string(wide) + " of "
            + std::to_string(point.reasons.size()) + "<td>" + markupText(point.origin) + '\n';
    }
    return html + "</table>\n";
}

} // namespace halftone::report
