#pragma once

#include <string>
#include <vector>

/// Plain plots as <svg> elements, for pages that run no script.
namespace halftone::report {

struct Mark
{
    std::string name;
    double value = 0; ///< NaN and infinities stand at the border, hollow
};

/// Values one after the other, joined by a line; each mark tells its name and value as a tooltip.
std::string linePlot(const std::vector<Mark> &marks, const std::string &axis);

struct Bar
{
    std::string name;
    double value = 0;
    std::string style; ///< CSS class that colours it
};

/// The `most` largest, from the top down.
std::string barPlot(std::vector<Bar> bars, const std::string &axis, std::size_t most);

} // namespace halftone::report
