#pragma once

#include "core/compare/layer_compare.h"
#include "core/infer/infer_shapes.h"
#include "core/latency/latency.h"
#include "core/mixed/convert_model.h"
#include "core/report/front_figures.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace halftone::report {

/// Content of a report. Only `source` and `converted` are required; the page states what else is missing.
struct PageContent
{
    std::string title; ///< name of the model
    std::string made; ///< when, by which version and on which machine, a sentence; empty: not told
    const graph::Graph *source = nullptr;
    const mixed::ConvertedModel *converted = nullptr;
    const infer::ShapeMap *shapes = nullptr;
    const compare::Comparison *comparison = nullptr;
    /// Task metric of the source and the converted model: "top-1", "98.1 → 97.9 %".
    std::optional<std::pair<std::string, std::string>> score;
    std::size_t examples = 0;
    std::size_t expected = 0; ///< more than `examples`: the comparison is still running
    std::string whyNotCompared = "no data"; ///< if there is no comparison
    std::string arithmetic; ///< arithmetic of the comparison: "as the operators are defined"
    const latency::Latency *fp32 = nullptr;
    const latency::Latency *mixed = nullptr;
    const latency::Versus *versus = nullptr;
    const FrontFigures *front = nullptr; ///< result of tune; null: none
    std::string graphSvg; ///< an <svg> element; empty: none
};

/// A self-contained HTML page without other files or network, which reads the same without its one script, which sorts tables. Names from
/// the model are escaped.
std::string htmlPage(const PageContent &content);

} // namespace halftone::report
