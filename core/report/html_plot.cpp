#include "core/report/html_plot.h"

#include "core/base/markup.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace halftone::report {
namespace {

constexpr double kWidth = 1100;
constexpr double kHeight = 240;
constexpr double kLeft = 48; ///< room for the axis' numbers
constexpr double kEdge = 16;
constexpr double kRow = 18;
constexpr double kNameWidth = 320;

std::string number(double value, const char *format = "%.1f")
{
    return numberText(value, format);
}

std::string open(double height)
{
    return "<svg viewBox=\"0 0 " + number(kWidth) + ' ' + number(height)
        + "\" role=\"img\" font-size=\"11\" fill=\"currentColor\">";
}

/// A step of 1, 2 or 5 times a power of ten that gives about five lines.
double niceStep(double range)
{
    const double rough = range / 5;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double digit = rough / power;
    return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

bool isInsideCharacter(char byte)
{
    return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

/// Long names keep their beginning and end, where they differ. UTF-8 characters are kept whole.
std::string shortened(const std::string &name)
{
    constexpr std::size_t kMost = 46;
    if (name.size() <= kMost)
        return name;
    std::size_t first = kMost / 2;
    while (first > 0 && isInsideCharacter(name[first]))
        --first;
    std::size_t last = name.size() - kMost / 2;
    while (last < name.size() && isInsideCharacter(name[last]))
        ++last;
    return name.substr(0, first) + "…" + name.substr(last);
}

/// The multiples of a step from the first at or above `least` to `most`.
std::vector<double> gridLines(double least, double most, double step)
{
    const double first = std::ceil(least / step - 1e-9); // what rounds up is that multiple itself
    std::vector<double> lines(static_cast<std::size_t>(std::floor(most / step + 0.5) - first) + 1);
    for (std::size_t i = 0; i < lines.size(); ++i)
        lines[i] = (first + static_cast<double>(i)) * step;
    return lines;
}

/// An axis from one round number to another.
struct Axis
{
    double least;
    double most;
    double step;
    double from; ///< where `least` stands, in the picture
    double to;

    double at(double value) const
    {
        const double bounded = std::isnan(value) ? least : std::clamp(value, least, most);
        return from + (bounded - least) / (most - least) * (to - from);
    }
};

/// A value that all fit on and none else asks for gets a range of its own.
Axis axisOf(const std::vector<double> &values, double from, double to)
{
    double least = 0;
    double most = 1;
    bool isFirst = true;
    for (const double value : values) {
        if (!std::isfinite(value))
            continue;
        least = isFirst ? value : std::min(least, value);
        most = isFirst ? value : std::max(most, value);
        isFirst = false;
    }
    if (most - least <= 1e-9 * std::abs(most))
        most = least + std::max(std::abs(least), 1e-3);
    const double step = niceStep(most - least);
    return {std::floor(least / step) * step, std::ceil(most / step) * step, step, from, to};
}

std::string circle(const PlanePoint &point, const Axis &x, const Axis &y, double radius, const char *style)
{
    return "<circle r=\"" + number(radius) + "\" cx=\"" + number(x.at(point.x)) + "\" cy=\""
        + number(y.at(point.y)) + "\" " + style + "><title>" + markupText(point.name) + "</title></circle>";
}

std::string gridOf(const Axis &x, const Axis &y)
{
    std::string svg;
    for (const double value : gridLines(y.least, y.most, y.step))
        svg += "<path stroke=\"var(--line)\" d=\"M" + number(x.from) + ' ' + number(y.at(value)) + 'H'
            + number(x.to) + "\"/><text text-anchor=\"end\" x=\"" + number(x.from - 6) + "\" y=\""
            + number(y.at(value) + 4) + "\">" + number(value, "%g") + "</text>";
    for (const double value : gridLines(x.least, x.most, x.step))
        svg += "<path stroke=\"var(--line)\" d=\"M" + number(x.at(value)) + ' ' + number(y.from) + 'V'
            + number(y.to) + "\"/><text text-anchor=\"middle\" x=\"" + number(x.at(value)) + "\" y=\""
            + number(y.from + 16) + "\">" + number(value, "%g") + "</text>";
    return svg;
}

/// The element, as a link where there is one.
std::string linked(const std::string &link, const std::string &element)
{
    return link.empty() ? element : "<a href=\"" + markupText(link) + "\">" + element + "</a>";
}

} // namespace

std::string numberText(double value, const char *format)
{
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), format, value);
    return text.data();
}

std::string planePlot(const std::vector<PlanePoint> &points, const std::string &xAxis,
                      const std::string &yAxis, const std::optional<double> &level)
{
    constexpr double kTall = 420;
    std::vector<double> xs;
    std::vector<double> ys;
    for (const PlanePoint &point : points) {
        xs.insert(xs.end(), {point.x, point.interval[0], point.interval[1]});
        ys.push_back(point.y);
    }
    if (level)
        ys.push_back(*level);
    const Axis x = axisOf(xs, kLeft, kWidth - kEdge);
    const Axis y = axisOf(ys, kTall - 3 * kEdge, 2 * kEdge);
    std::string svg = open(kTall) + "<title>" + markupText(yAxis) + "</title>" + gridOf(x, y);
    std::vector<PlanePoint> joined;
    std::ranges::copy_if(points, std::back_inserter(joined), &PlanePoint::isJoined);
    std::ranges::stable_sort(joined, {}, &PlanePoint::x);
    std::string path;
    for (const PlanePoint &point : joined)
        path += (path.empty() ? "M" : "L") + number(x.at(point.x)) + ' ' + number(y.at(point.y));
    svg += "<path fill=\"none\" stroke=\"var(--first)\" stroke-dasharray=\"4 3\" d=\"" + path + "\"/>";
    if (level)
        svg += "<path stroke=\"currentColor\" stroke-dasharray=\"2 3\" d=\"M" + number(x.from) + ' '
            + number(y.at(*level)) + 'H' + number(x.to) + "\"/>";
    for (const PlanePoint &point : points) {
        if (point.isSolid)
            svg += "<path stroke=\"var(--first)\" d=\"M" + number(x.at(point.interval[0])) + ' '
                + number(y.at(point.y)) + 'H' + number(x.at(point.interval[1])) + "\"/>";
        svg += circle(point, x, y, 4,
                      point.isSolid ? "fill=\"var(--first)\""
                                    : "fill=\"var(--ground)\" stroke=\"var(--first)\"");
        if (point.isMarked)
            svg += circle(point, x, y, 9, "fill=\"none\" stroke=\"var(--second)\" stroke-width=\"2\"");
    }
    return svg + "<text x=\"" + number(kLeft) + "\" y=\"12\">" + markupText(yAxis)
        + "</text><text text-anchor=\"end\" x=\"" + number(kWidth - kEdge) + "\" y=\"" + number(kTall - 8)
        + "\">" + markupText(xAxis) + "</text></svg>\n";
}

std::string linePlot(const std::vector<Mark> &marks, const std::string &axis)
{
    double least = 0;
    double most = 1;
    for (const Mark &mark : marks) {
        if (std::isfinite(mark.value)) {
            least = std::min(least, mark.value);
            most = std::max(most, mark.value);
        }
    }
    const double step = niceStep(most - least);
    most = std::ceil(most / step) * step;
    const auto y = [&](double value) {
        const double bounded = std::isnan(value) ? least : std::clamp(value, least, most);
        return kEdge + (most - bounded) / (most - least) * (kHeight - 2 * kEdge);
    };
    const double spacing
        = (kWidth - kLeft - kEdge) / static_cast<double>(std::max<std::size_t>(marks.size(), 2) - 1);
    std::string svg = open(kHeight) + "<title>" + markupText(axis) + "</title>";
    for (const double value : gridLines(least, most, step))
        svg += "<path stroke=\"var(--line)\" d=\"M" + number(kLeft) + ' ' + number(y(value)) + 'H'
            + number(kWidth - kEdge) + "\"/><text text-anchor=\"end\" x=\"" + number(kLeft - 6) + "\" y=\""
            + number(y(value) + 4) + "\">" + number(value, "%g") + "</text>";
    std::string path;
    std::string dots;
    for (std::size_t i = 0; i < marks.size(); ++i) {
        const double x = kLeft + spacing * static_cast<double>(i);
        const bool finite = std::isfinite(marks[i].value);
        path += (i == 0 ? "M" : "L") + number(x) + ' ' + number(y(marks[i].value));
        dots += linked(marks[i].link,
                       "<circle r=\"3\" cx=\"" + number(x) + "\" cy=\"" + number(y(marks[i].value)) + "\" "
                           + (finite ? "fill=\"var(--first)\""
                                     : "fill=\"var(--ground)\" stroke=\"var(--second)\" stroke-width=\"2\"")
                           + "><title>" + markupText(marks[i].name) + ": " + number(marks[i].value, "%.1f")
                           + "</title></circle>");
    }
    svg += "<path fill=\"none\" stroke=\"var(--first)\" d=\"" + path + "\"/>" + dots + "<text x=\""
        + number(kLeft) + "\" y=\"11\">" + markupText(axis) + "</text></svg>\n";
    return svg;
}

std::string barPlot(std::vector<Bar> bars, const std::string &axis, std::size_t most)
{
    std::ranges::stable_sort(bars, std::greater(), &Bar::value);
    const std::size_t left = bars.size() > most ? bars.size() - most : 0;
    bars.resize(std::min(bars.size(), most));
    const double longest = bars.empty() ? 1 : std::max(bars.front().value, 1e-9);
    const double height = kRow * static_cast<double>(bars.size() + 2);
    std::string svg
        = open(height) + "<text x=\"" + number(kNameWidth) + "\" y=\"12\">" + markupText(axis) + "</text>";
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const double top = kRow * static_cast<double>(i + 1);
        const double width = std::max(1.0, bars[i].value / longest * (kWidth - kNameWidth - 80));
        // Monospaced, so that a shortened name fits whatever its letters are.
        svg += linked(bars[i].link,
                      "<text font-family=\"monospace\" text-anchor=\"end\" x=\"" + number(kNameWidth - 8)
                          + "\" y=\"" + number(top + 13) + "\">" + markupText(shortened(bars[i].name))
                          + "</text>")
            + "<rect class=\"" + markupText(bars[i].style) + "\" fill=\"currentColor\" x=\""
            + number(kNameWidth) + "\" y=\"" + number(top + 3) + "\" height=\"" + number(kRow - 5)
            + "\" width=\"" + number(width) + "\"/><text x=\"" + number(kNameWidth + width + 6) + "\" y=\""
            + number(top + 13) + "\">" + number(bars[i].value) + "</text>";
    }
    if (left > 0)
        svg += "<text x=\"" + number(kNameWidth) + "\" y=\"" + number(height - 4) + "\">and "
            + std::to_string(left) + " faster ones</text>";
    return svg + "</svg>\n";
}

} // namespace halftone::report
