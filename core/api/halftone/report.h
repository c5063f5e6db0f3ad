#pragma once

#include "halftone/compare.h"
#include "halftone/convert.h"
#include "halftone/tune.h"

#include <optional>
#include <string>

namespace halftone::api {

struct ReportOptions
{
    Policy policy;
    Data data; ///< to compare on; not given: no comparison
    unsigned threads = 0; ///< 0: one per core
    Arithmetic arithmetic = Arithmetic::Defined;
    bool latency = false; ///< also measure the latency of both models
    std::optional<Front> front; ///< adds the result of a search
};

/// A self-contained HTML page with the graph, lists, layers and plots. fails: as convert(), compare() and profile()
Result<std::string> reportPage(const Model &model, const ReportOptions &options = {},
                               const Progress &progress = {});

struct PictureOptions
{
    bool folded = false; ///< fold blocks as the window first shows them
    bool allNodes = false; ///< show constants and quantization pairs as nodes; implied unless folded
};

/// The graph as an SVG document, each box in the colour of the type that it gives. Graphviz's `dot` lays it out, where it is found. fails: Cancelled
Result<std::string> picture(const Model &model, const PictureOptions &options = {},
                            const Progress &progress = {});
/// The source of a conversion, each box in the colour of the precision it computes in.
Result<std::string> picture(const Conversion &conversion, const PictureOptions &options = {},
                            const Progress &progress = {});
/// Where that picture has the nodes, as JSON: what `layout --json` prints.
Result<std::string> layoutReport(const Model &model, const PictureOptions &options = {},
                                 const Progress &progress = {});

} // namespace halftone::api
