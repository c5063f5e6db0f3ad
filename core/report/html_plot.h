#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

/// Plain plots as <svg> elements, which need no script.
namespace halftone::report {

struct Mark
{
    std::string name;
    double value = 0; ///< NaN and infinities stand at the border, hollow
    std::string link = {}; ///< of the mark: "#l12"; empty: none
};

/// Values one after the other, joined by a line; each mark tells its name and value as a tooltip.
std::string linePlot(const std::vector<Mark> &marks, const std::string &axis);

struct Bar
{
    std::string name;
    double value = 0;
    std::string style; ///< CSS class that colours it
    std::string link = {}; ///< of the name: "#l12"; empty: none
};

/// The `most` largest, from the top down.
std::string barPlot(std::vector<Bar> bars, const std::string &axis, std::size_t most);

struct PlanePoint
{
    std::string name;
    double x = 0;
    std::array<double, 2> interval{}; ///< of x
    double y = 0; ///< infinite and NaN stand at the border
    bool isSolid = true; ///< else hollow
    bool isMarked = false; ///< with a ring
    bool isJoined = false; ///< to the other such ones, by a line from the left to the right
};

/// Points of a plane with intervals along x; each tells its name as a tooltip. level: a horizontal line there.
std::string planePlot(const std::vector<PlanePoint> &points, const std::string &xAxis,
                      const std::string &yAxis, const std::optional<double> &level);

/// As printf has it.
std::string numberText(double value, const char *format);

} // namespace halftone::report
