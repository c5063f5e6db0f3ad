#pragma once

#include "core/infer/infer_shapes.h"
#include "core/mixed/convert_model.h"
#include "core/profile/latency.h"
#include "core/profile/layer_compare.h"
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
    const graph::Graph *source = nullptr;
    const mixed::ConvertedModel *converted = nullptr;
    const infer::ShapeMap *shapes = nullptr;
    const profile::Comparison *comparison = nullptr;
    /// Task metric of the source and the converted model: "top-1", "98.1 → 97.9 %".
    std::optional<std::pair<std::string, std::string>> score;
    std::size_t examples = 0;
    std::string arithmetic; ///< arithmetic of the comparison: "as the operators are defined"
    const profile::Latency *fp32 = nullptr;
    const profile::Latency *mixed = nullptr;
    const profile::Versus *versus = nullptr;
    const FrontFigures *front = nullptr; ///< result of tune; null: none
    std::string graphSvg; ///< an <svg> element; empty: none
};

/// A self-contained HTML page: no scripts, other files or network. Names from the model are escaped.
std::string htmlPage(const PageContent &content);

} // namespace halftone::report
