#pragma once

#include "core/base/result.h"

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::report {

/// A network that `tune` measured.
struct FrontPoint
{
    double milliseconds = 0; ///< median
    std::array<double, 2> ci95{};
    double ratio = 1; ///< to float32
    double sqnrDb = 0; ///< infinite: no error
    double predictedMs = 0; ///< by the sums
    double predictedDb = 0;
    std::optional<double> top1;
    std::optional<double> top1Reference; ///< float32's
    std::string origin; ///< what came upon it
    bool isOffered = false; ///< beaten by none in both error and time
    std::map<std::string, std::string> reasons; ///< by group
};

/// What a search for the layers that must stay wide came to.
struct FrontFigures
{
    std::vector<FrontPoint> points; ///< those offered first, from the least error on
    std::optional<double> limit;
    bool isLimitOfTop1 = false; ///< else of SQNR
    std::size_t evaluations = 0;
    double seconds = 0;
    double kappa = 1;
    double lowerBoundGap = 0;
};

/// Reads what `tune --out` wrote (app/README.md). fails: BadInput with the JSON path of what does not fit
Result<FrontFigures> readFront(std::string_view json);

/// The plane of time and error as an <svg> element: solid points measured, with the 95 % interval of their time, hollow ones where the
/// sums had put them, those offered joined by a line. reasons: of the policy at hand; the point that they are of is marked.
std::string frontPlot(const FrontFigures &front, const std::map<std::string, std::string> &reasons);

/// The same as the rows of a <table>.
std::string frontTable(const FrontFigures &front, const std::map<std::string, std::string> &reasons);

} // namespace halftone::report
